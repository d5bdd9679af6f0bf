// recompute-live.test.ts compares whole answers with examples/python/live.py.
import { expect, test } from 'vitest'
import { type LiveInput, liveEntries, liveFigures } from '#core/figures/live-figures.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { dailyFrom } from '#test/support/daily.ts'

/** `5T04:00` is 5 January 2026, 04:00 UTC; days past the 31st are of February and so on. */
const at = (text: string): number => {
  const [day, time] = text.split('T')
  return Date.UTC(2026, 0, Number(day)) + Date.parse(`1970-01-01T${time}Z`)
}

/** `long 5T04:00 6T08:00, ...` */
const tradesOf = (text: string) =>
  text
    .split(', ')
    .filter(Boolean)
    .map(each => {
      const [side, entry = '', exit = ''] = each.split(' ')
      return { side: side as 'long' | 'short', entry_time: at(entry), exit_time: at(exit) }
    })

/** `long 5T04:00 5T04:10, halt 5T03:00 5T03:10 *, ...`: what, when, `to` of its seal, and who or whose. */
function liveOf(text: string, bar_minutes: number | null = 240): NonNullable<LiveInput['live']> {
  const items = text
    .split(', ')
    .filter(Boolean)
    .map((each, i) => {
      const [what = '', when = '', seal = '', other] = each.split(' ')
      return { what, other, seq: i + 1, n: i + 1, time: at(when), sealed: at(seal) }
    })
  const isSignal = (what: string) => ['long', 'short', 'flat'].includes(what)
  return {
    bar_minutes,
    signals: items
      .filter(({ what }) => isSignal(what))
      .map(({ what, other, time, ...seal }) => ({
        ...{ ...seal, action: what as 'long' | 'short' | 'flat', timestamp: time, stamped: null },
        ...{ mode: other === 'DRY_RUN' ? 'DRY_RUN' : 'LIVE', by: other ?? 'strategy' },
      })),
    events: items
      .filter(({ what }) => !isSignal(what))
      .map(({ what, other, time, ...seal }) => ({
        ...{ ...seal, event: what as 'halt', at: time, by: 'operator:ada', why: null, alias: other ?? 'ash' },
      })),
  }
}

const START = 'live 1T00:00 1T00:00'

const scene = (items: string, trades: string, given: Partial<LiveInput> & { bars?: number | null } = {}) => ({
  ...{ daily: dailyFrom('2026-01-01', new Array(31).fill(0)), k: 1, open_since: null, gaps: [] },
  ...{ opened_to: '2026-01-31', trades: tradesOf(trades), live: liveOf(items, given.bars), ...given },
})

const TRADE = 'long 5T04:00 6T08:00'

test.each(casesOf<[string, string, string, object, string]>`
whose seal ends at the deadline, 15 minutes after the fill -> ${`${START}, long 5T04:00 5T04:15`} -> ${TRADE} -> ${{}} -> sealed
whose seal ends a second later -> ${`${START}, long 5T04:00 5T04:15:01`} -> ${TRADE} -> ${{}} -> late
that is sealed at the next close of its bars -> ${`${START}, long 5T04:00 5T04:10`} -> ${TRADE} -> ${{ bars: 10 }} -> sealed
that is sealed after the next close of its bars, but within 15 minutes -> ${`${START}, long 5T03:55 5T04:10`} -> long 5T03:55 6T08:00 -> ${{}} -> late
of a strategy without bars that is sealed within 15 minutes -> ${`${START}, long 5T23:55 6T00:10`} -> long 5T23:55 6T08:00 -> ${{ bars: null }} -> sealed
that an operator fired -> ${`${START}, long 5T04:00 5T04:10 operator:ada`} -> ${TRADE} -> ${{}} -> by_hand
that an operator fired hours later -> ${`${START}, long 5T09:00 5T09:10 operator:ada`} -> ${TRADE} -> ${{}} -> by_hand
of a dry run -> ${`${START}, long 5T04:00 5T04:10 DRY_RUN`} -> ${TRADE} -> ${{}} -> missed
of the other side -> ${`${START}, short 5T04:00 5T04:10`} -> ${TRADE} -> ${{}} -> missed, 1 unmatched
that was decided 15 minutes before the fill -> ${`${START}, long 5T03:45 5T03:50`} -> ${TRADE} -> ${{}} -> sealed
that was decided earlier -> ${`${START}, long 5T03:44:59 5T03:50`} -> ${TRADE} -> ${{}} -> missed, 1 unmatched
that was decided at the exit -> ${`${START}, long 6T08:00 6T08:10`} -> ${TRADE} -> ${{}} -> missed, 1 unmatched
that was decided 24 hours after the fill of a long trade -> ${`${START}, long 6T04:00 6T04:10`} -> long 5T04:00 9T08:00 -> ${{}} -> missed, 1 unmatched
that was decided a second less after it -> ${`${START}, long 6T03:59:59 6T04:10`} -> long 5T04:00 9T08:00 -> ${{}} -> late
that was sealed 20 minutes before the fill with the time of the fill -> ${`${START}, long 5T04:00 5T03:40`} -> ${TRADE} -> ${{}} -> missed, 1 unmatched
of a trade that ended at once -> ${`${START}, long 5T04:00 5T04:10`} -> long 5T04:00 5T04:00 -> ${{}} -> sealed
that came twice -> ${`${START}, long 5T04:00 5T04:10, long 5T05:00 5T05:10`} -> ${TRADE} -> ${{}} -> sealed, 1 unmatched
of one of two trades -> ${`${START}, long 5T04:00 5T04:10`} -> ${`${TRADE}, ${TRADE}`} -> ${{}} -> sealed missed
that a halt held back -> ${`${START}, halt 5T04:00 5T04:10`} -> ${TRADE} -> ${{}} -> halted
that a halt of all held back -> ${`${START}, halt 5T03:00 5T04:15 *`} -> ${TRADE} -> ${{}} -> halted
despite a halt -> ${`${START}, halt 5T03:00 5T03:10, long 5T04:00 5T04:10`} -> ${TRADE} -> ${{}} -> sealed
whose halt was ordered after the fill -> ${`${START}, halt 5T04:01 5T04:10`} -> ${TRADE} -> ${{}} -> missed
whose halt was sealed after the deadline -> ${`${START}, halt 5T03:00 5T04:20`} -> ${TRADE} -> ${{}} -> missed
whose halt was resumed before the fill -> ${`${START}, halt 5T03:00 5T03:10, resume 5T03:59 5T04:10`} -> ${TRADE} -> ${{}} -> missed
whose halt was resumed at the fill -> ${`${START}, halt 5T03:00 5T03:10, resume 5T04:00 5T04:10`} -> ${TRADE} -> ${{}} -> halted
whose halt was resumed with a time after that of its seal -> ${`${START}, halt 5T03:00 5T03:10, resume 5T09:00 5T03:30`} -> ${TRADE} -> ${{}} -> missed
of a halted strategy when all are resumed -> ${`${START}, halt 5T03:00 5T03:10, resume 5T03:20 5T03:30 *`} -> ${TRADE} -> ${{}} -> halted
before the strategy was live -> ${`live 5T04:01 5T04:10, long 5T04:00 5T04:10`} -> ${TRADE} -> ${{}} -> -
of a strategy that it makes live -> ${`long 5T04:00 5T04:10`} -> ${TRADE} -> ${{}} -> -
after one that made the strategy live -> ${`long 2T04:00 2T04:10, flat 3T04:00 3T04:10`} -> ${`long 2T04:00 3T04:00, ${TRADE}`} -> ${{}} -> - missed
after the end -> ${`${START}, ended 5T03:00 5T04:00, flat 5T04:00 5T04:10`} -> ${TRADE} -> ${{}} -> -
after the first of two ends -> ${`${START}, ended 3T03:00 3T03:10, ended 6T03:00 6T03:10`} -> ${TRADE} -> ${{}} -> -
after the end and a second start -> ${`${START}, ended 3T03:00 3T03:10, live 4T00:00 4T00:10`} -> ${TRADE} -> ${{}} -> missed
after the end and a live entry -> ${`${START}, ended 3T03:00 3T03:10, long 4T00:00 4T00:10`} -> ${`long 4T00:00 4T08:00, ${TRADE}`} -> ${{}} -> - missed
whose deadline is the end of the last opened day -> ${START} -> long 31T23:45 31T23:50 -> ${{}} -> -
whose deadline is a second earlier -> ${START} -> long 31T23:44:59 31T23:50 -> ${{}} -> missed
of the position that is still open -> ${`${START}, short 20T04:00 20T04:10`} -> ${''} -> ${{ open_since: '2026-01-20' }} -> , 0 unmatched
of a later day than the position that is still open -> ${`${START}, short 21T00:00 21T00:10`} -> ${''} -> ${{ open_since: '2026-01-20' }} -> , 1 unmatched
of a position that was open before -> ${`${START}, short 19T23:44 20T00:00`} -> ${''} -> ${{ open_since: '2026-01-20' }} -> , 1 unmatched
of no trade and no position -> ${`${START}, short 20T04:00 20T04:10`} -> ${''} -> ${{}} -> , 1 unmatched
of a strategy of which nothing is opened -> ${''} -> ${TRADE} -> ${{ live: null, opened_to: null }} -> -`)(
  'an entry %s is judged by its seal and no other: %s of the trades %s',
  (_, items, trades, given, expected) => {
    const input = scene(items, trades, given)
    const words = liveEntries(input)
    const { judged, unmatched, ...counts } = liveFigures(input).values.entries as Record<string, number>
    const [wanted, left = '0 unmatched'] = expected.split(', ')
    expect([words.map(word => word ?? '-').join(' '), `${unmatched} unmatched`]).toEqual([wanted, left])
    const found = words.filter(word => word !== null)
    const sum = Object.values(counts).reduce((a, b) => a + b, 0)
    expect([judged, sum]).toEqual([found.length, found.length])
    for (const [word, count] of Object.entries(counts))
      expect([word, count]).toEqual([word, found.filter(each => each === word).length])
  },
)

/** 1 % on each day; of three trades the second is missed, and the third was fired by hand, too late. */
const HELD = scene(
  `${START}, long 2T04:00 2T04:10, long 8T09:00 8T09:10 operator:ada`,
  'long 2T04:00 5T00:00, long 5T00:00 7T08:00, long 8T04:00 9T08:00',
  { daily: dailyFrom('2025-12-30', new Array(40).fill(0.01)) },
)

const figuresOf = (given: Partial<LiveInput>) => liveFigures({ ...HELD, ...given })

test('a day is left out of the figures “as sealed” if only positions were open on it that were not sealed in time, the days of their entry and exit included', () => {
  const { values } = figuresOf({})
  expect(values).toMatchObject({
    ...{ live_since: '2026-01-01T00:00:00Z', ended_on: null, days_left_out: 4, days_shared: 1 },
    days: { live: 31, sealed: 31, gaps: 0 },
    modelled: { net_return_pct: expect.closeTo(100 * (1.01 ** 31 - 1), 9), max_drawdown_pct: 0 },
    as_sealed: { net_return_pct: expect.closeTo(100 * (1.01 ** 27 - 1), 9) }, // without the 6th, 7th, 8th and 9th
  })
  const open = (live: LiveInput['live']) => figuresOf({ live, open_since: '2026-01-20' }).values.days_left_out
  const sealed = (to: string) => open(liveOf(`${START}, short 20T04:00 ${to}`))
  expect([open(liveOf(START)), sealed('21T00:15'), sealed('21T00:15:01')]).toEqual([20, 8, 20])
})

test('a day is live if the strategy was live at its beginning, so that an end before midnight takes no day out', () => {
  const daysOf = (items: string, opened_to = '2026-01-31') =>
    (figuresOf({ live: liveOf(items), opened_to }).values.days as { live: number }).live
  expect(daysOf('live 3T00:00 3T00:10, ended 5T23:40 5T23:50')).toBe(2)
  expect(daysOf('live 3T00:00 3T00:00, ended 5T23:50 6T00:00')).toBe(3)
  expect(daysOf('live 3T00:00 3T00:00, ended 4T12:00 4T12:10, live 4T13:00 4T13:10')).toBe(29)
  expect([daysOf(START, '2026-01-09'), daysOf(START, '2026-03-09')]).toEqual([9, 38])
  const ended = liveOf('live 3T00:00 3T00:10, ended 5T23:40 5T23:50')
  expect(figuresOf({ live: ended }).values.ended_on).toBe('2026-01-05')
})

test('a gap counts on every live day that it touches, and on no other', () => {
  const spans = '02T23:00 03T00:00, 10T23:50 12T00:10, 12T05:00 12T06:00, 20T00:00 21T00:00'.split(', ')
  const gaps = spans.map(span => {
    const [from, to] = span.split(' ')
    return { from: `2026-01-${from}:00Z`, to: `2026-01-${to}:00Z` }
  })
  const before = { from: '2025-12-31T00:00:00Z', to: '2025-12-31T05:00:00Z' }
  expect(figuresOf({ gaps: [before, ...gaps] }).values.days).toEqual({ live: 31, sealed: 26, gaps: 4 })
})

test('the delays of live entries are those of nearest rank, to the seal and to the time stamp, and a decision is never after its seal', () => {
  const live = liveOf(
    `${START}, ${'long 2T04:00 2T04:10, '.repeat(98)}long 2T04:00 2T03:50, long 2T04:00 2T05:00`,
  )
  const stamped = {
    ...live,
    signals: live.signals.map((each, i) => ({ ...each, stamped: i < 2 ? at('2T06:00') + i : null })),
  }
  expect(figuresOf({ live: stamped }).values.delay_seconds).toEqual({
    claimed: { count: 100, median: 600, p99: 600 },
    stamped: { count: 2, median: 7200, p99: 7200.001 },
  })
  expect(figuresOf({ live: liveOf(START) }).undefined).toMatchObject({
    'delay_seconds/claimed/median': 'too_few_points',
    'delay_seconds/stamped/p99': 'too_few_points',
  })
})

test('Sharpe ratios and the tracking error of a live record need 90 days, as sealed a trade, and all of them a live day', () => {
  const daily = dailyFrom(
    '2026-01-01',
    Array.from({ length: 200 }, (_, i) => Math.sin(i * i) / 50),
  )
  const after = (days: number, more: Partial<LiveInput> = {}) =>
    figuresOf({ daily, opened_to: new Date(Date.UTC(2026, 0, days)).toISOString().slice(0, 10), ...more })
  const sharpes = ['modelled', 'as_sealed'].map(path => `${path}/sharpe_daily_annualized`)
  const names = [...sharpes, 'tracking_error_pct']
  expect(names.map(name => after(89).undefined[name])).toEqual(names.map(() => 'too_few_points'))
  expect(names.map(name => after(90).undefined[name])).toEqual(names.map(() => undefined))
  expect(after(90, { trades: [] }).undefined).toMatchObject({
    ...{ 'as_sealed/net_return_pct': 'no_trades', tracking_error_pct: 'no_trades' },
  })
  const never = figuresOf({ live: null, opened_to: null })
  expect(never.undefined).toMatchObject({ 'modelled/net_return_pct': 'too_few_points' })
  expect(never.values).toMatchObject({ live_since: null, days: { live: 0 }, entries: { judged: 0 } })
  const [one, two] = [after(90), after(90, { k: 2 })].map(({ values }) => Number(values.tracking_error_pct))
  expect([one! > 0, two]).toEqual([true, expect.closeTo(2 * one!, 9)])
})
