// recompute-live.test.ts compares whole answers with examples/python/live.py.
import { expect, test } from 'vitest'
import { type LiveInput, liveEntries, liveFigures } from '#core/figures/live-figures.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { dailyFrom } from './series.ts'

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
after the end and a second start -> ${`${START}, ended 3T03:00 3T03:10, live 4T00:00 4T00:10`} -> ${TRADE} -> ${{}} -> missed
after the end and a live entry -> ${`${START}, ended 3T03:00 3T03:10, long 4T00:00 4T00:10`} -> ${`long 4T00:00 4T08:00, ${TRADE}`} -> ${{}} -> - missed
whose deadline is the end of the last opened day -> ${START} -> long 31T23:45 31T23:50 -> ${{}} -> -
whose deadline is a second earlier -> ${START} -> long 31T23:44:59 31T23:50 -> ${{}} -> missed
of the position that is still open -> ${`${START}, short 20T04:00 20T04:10`} -> ${''} -> ${{ open_since: '2026-01-20' }} -> , 0 unmatched
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
    const judgedWords = words.filter(word => word !== null)
    expect([judged, Object.values(counts).reduce((a, b) => a + b, 0)]).toEqual([
      judgedWords.length,
      judgedWords.length,
    ])
    for (const [word, count] of Object.entries(counts)) {
      expect([word, count]).toEqual([word, judgedWords.filter(each => each === word).length])
    }
  },
)
