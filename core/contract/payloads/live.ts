// Payload of `/v1/strategies/{sid}/live`: what was sealed while the strategy was live, and what follows from it.
import { z } from 'zod'
import { LIVE_EVENTS, LIVE_WORDS } from '#core/figures/live-figures.ts'
import {
  isoDate,
  list,
  number,
  numberOrNull,
  record,
  recordOrNull,
  records,
  text,
  textOrNull,
  type ValueOf,
  whole,
  word,
} from './field.ts'
import { count, holding, pct, ratioOrNull, UNTRADED, undefinedReasons } from './figure-rule.ts'

/** Of a trade; files of older versions have no such field. */
export const liveWord = () =>
  word(
    'What became of an entry while the strategy was live: `sealed` in time, `late`, `missed` without a signal, `halted` without one ' +
      'because of a halt, `by_hand` fired by an operator, as the publisher states; null if it is not judged.',
    LIVE_WORDS,
  )
    .nullable()
    .optional()

const delay = (about: string, to: string) =>
  record(about, {
    count: count('Live entries that have it.', `n(${to})`),
    median: ratioOrNull('Median. Seconds.', `Q_0.5(${to} - t)`, ['too_few_points']),
    p99: ratioOrNull('99th percentile. Seconds.', `Q_0.99(${to} - t)`, ['too_few_points']),
  })

const time = (about: string) => number(`${about} Epoch milliseconds UTC.`)
const ofSeal = () => ({
  by: text(
    'As the publisher states: `runner`, `strategy`, `operator:NAME`, or `unknown` in signals of earlier releases.',
  ),
  n: whole('Number of its seal.'),
  sealed: time('End of its seal, by the clock of the publisher.'),
})
const span = () => ({ from: text('UTC instant.'), to: text('UTC instant.') })

export const liveData = () =>
  record('What was sealed while the strategy was live, as far as it is opened, beside the record.', {
    live_since: textOrNull('End of the seal with which it went live, a UTC instant; null if it never was.'),
    ended_on: isoDate('UTC day of the seal with which it ended; null while it is live.').nullable(),
    days: record('UTC days.', {
      live: count('Opened days of the series at whose beginning it was live.', 'n'),
      sealed: count('Live days that no gap touches.', 'n(live days without a gap)'),
      gaps: count('Gaps that touch a live day.', 'n(gaps)'),
    }),
    entries: record('Entries of the trades, and of the signals.', {
      judged: count('Trades that are judged.', 'n(trades)'),
      sealed: count('With a signal of the strategy that was sealed in time.', 'n(T ≤ D)'),
      late: count('With a signal of the strategy that was sealed later.', 'n(T > D)'),
      missed: count('Without a signal.', 'n(no signal)'),
      halted: count('Without a signal, because of a halt that was sealed in time.', 'n(halted)'),
      by_hand: count(
        'With a signal that an operator fired, as the publisher states, in time or not.',
        'n(by operator)',
      ),
      unmatched: count('Live entries of no trade, nor of the open position.', 'n(signals without a trade)'),
    }),
    delay_seconds: record('From the decision to its proof, of all live entries.', {
      claimed: delay('To the end of the seal, by the clock of the publisher.', 'T'),
      stamped: delay('To the first time stamp at or after the seal, of those that have one.', 'S'),
    }),
    modelled: record(
      'The record on the live days.',
      holding('the live days', ['E', 'r', 'n'], ['too_few_points']),
    ),
    as_sealed: record(
      'The same with 0 on the days that are left out.',
      holding('the live days as sealed', ['F', 'q', 'n'], UNTRADED),
    ),
    days_left_out: count(
      'Live days on which a trade was open, but none that was sealed in time.',
      'n(q = 0 for r)',
    ),
    days_shared: count('Live days on which both kinds were open; they are kept.', 'n(both)'),
    tracking_error_pct: pct(
      'Tracking error of as sealed; 90 live days or more.',
      '100 × k × sd(r - q) × √365',
      UNTRADED,
    ),
    bar_minutes: numberOrNull('Length of its bars, as the publisher states it; null without bars.'),
    seals: recordOrNull('The chain of seals up to the last opened day; null without any.', {
      since: text('Beginning of the first seal, a UTC instant.'),
      opened_to: isoDate('Last UTC day whose seals are opened.').nullable(),
      seals: whole('Seals up to then.'),
      newest: recordOrNull('The newest of them: a version binds the chain up to it. Null without any.', {
        n: whole('Number.'),
        digest: text('SHA-256 of its bytes, base64.'),
      }),
      gaps: records('Times that one seal spans for more than 600 s.', span()),
      lost: records('Seals that cannot be opened.', {
        n: whole('Number.'),
        why: text('As the publisher states.'),
      }),
      skipped: records('Numbers that no sealed signal has.', { from: whole('First.'), to: whole('Last.') }),
      stamped_by: textOrNull('The name in the newest time stamp, as the publisher states; null without any.'),
      absent: list('Strategies that were live and are not in the catalogue, sorted.', z.string()),
      origins: records('Chains that follow one another.', { origin: text('Name.'), n: whole('First seal.') }),
    }),
    events: records('Orders for this strategy, or for all, in the order of the seals.', {
      event: word('What was ordered.', LIVE_EVENTS),
      alias: text('The strategy, or `*` for all.'),
      at: time('When, by the clock of the publisher.'),
      why: textOrNull('Why, as stated.'),
      ...ofSeal(),
    }),
    signals: records('Its signals but tests, in the order of the seals.', {
      seq: whole('Number of the signal.'),
      action: word('What to hold.', ['long', 'short', 'flat']),
      mode: word('`LIVE` signals are traded.', ['LIVE', 'DRY_RUN']),
      timestamp: time('When the decision was made, as the signal says.'),
      stamped: numberOrNull(
        'First time stamp at or after its seal, as the publisher states. Epoch milliseconds UTC.',
      ),
      ...ofSeal(),
    }),
    undefined: undefinedReasons,
  }).meta({
    id: 'Live',
    'x-convention':
      'Live: from the end of the seal with an order to go live or a live entry to that of the next with an order to end. A trade is ' +
      'judged if it was entered while live and its deadline D is before the end of the last opened day: 15 minutes after the fill ' +
      'of the entry, or the next close of its bars if that is earlier. Its signal is the first unused live entry of its side that ' +
      'was decided at t, from 15 minutes before the fill to before the exit and less than 24 hours after the fill, or at the fill; ' +
      'T: end of its seal, S: time stamp; t is at most T. Size, price and exit are those of the record. A halt counts from its ' +
      'order on, if that was sealed by D, which may be 15 minutes after the fill. A trade is open from the day of its entry to ' +
      'that of its exit; the position that is still open was sealed in time if a signal is left that was decided on the day of ' +
      'its entry, or 15 minutes before it, and sealed at most 15 minutes after that day. r: base returns of the n live ' +
      'days, one after the other; q: as sealed; E, F: equity compounded from k × r and k × q, k = risk level / base risk; ' +
      'Q: by nearest rank.',
  })

/** The chain, as far as it is opened. Instants and dates are ISO. */
export type SealsRecord = NonNullable<ValueOf<ReturnType<typeof liveData>>['seals']>
