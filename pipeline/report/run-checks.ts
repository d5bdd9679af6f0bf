import { toIsoInstant } from '#core/calendar.ts'
import { counted } from '../book/field.ts'
import type { Found, Verdict } from './finding.ts'

/** First and last instant of what an index stands for, and how many bars, trades or days it counts for. */
type Extent = readonly [from: number, to: number, count: number]

type Group<Data> = (indices: readonly number[], data: Data) => readonly (readonly number[])[]

/** A row of a table of checks: which indices of the data it finds, how many findings they are, and what it says. */
export type Check<Data> = Verdict & {
  readonly is: (data: Data, i: number) => boolean
  readonly group: Group<Data>
  readonly what: (data: Data, at: readonly number[], count: number) => string
  /** Whether a serious or blocking finding of these indices is only a note. */
  readonly isNote?: (data: Data, at: readonly number[], count: number) => boolean
  /** If it is not that of the table. */
  readonly extent?: (data: Data, i: number) => Extent
}

/** A finding for each index. */
export const each: Group<unknown> = indices => indices.map(i => [i])

/** One finding for all indices. */
export const all: Group<unknown> = indices => (indices.length === 0 ? [] : [indices])

/** A finding for each run of at least so many consecutive indices. */
export const runs =
  <Data>(leastOf: (data: Data) => number): Group<Data> =>
  (indices, data) => {
    const found: number[][] = []
    for (const i of indices) {
      if (found.at(-1)?.at(-1) === i - 1) found.at(-1)!.push(i)
      else found.push([i])
    }
    return found.filter(run => run.length >= leastOf(data))
  }

/** What is later than now is a mistake, or a forecast. */
export const inFuture = <Data extends { readonly nowMs: number }>(
  noun: string,
  timeOf: (data: Data, i: number) => number,
  what = 'of the future',
): Check<Data> => ({
  ...{ code: `future_${noun}s`, severity: 'blocking', group: all },
  is: (data, i) => timeOf(data, i) > data.nowMs,
  what: (data, found) =>
    `${counted(found.length, noun)} ${what}, the last at ${toIsoInstant(timeOf(data, found.at(-1)!))}, while it is ${toIsoInstant(data.nowMs)}`,
  fix: 'remove them, or correct the unit or the zone of the times',
})

/** As many indices as a finding keeps. */
const MOST_PLACES = 5

/** Applies every row of a table to data whose bars, trades or days begin, and end, at these times. */
export const runChecks = <Data>(
  checks: readonly Check<Data>[],
  data: Data,
  starts: ArrayLike<number>,
  ends: ArrayLike<number> = starts,
): Found[] =>
  checks.flatMap(({ is, isNote, group, what, extent = (_, i) => [starts[i]!, ends[i]!, 1], ...stated }) => {
    const indices: number[] = []
    for (let i = 0; i < starts.length; i++) if (is(data, i)) indices.push(i)
    return group(indices, data).map(at => {
      const extents = at.map(i => extent(data, i))
      const from = extents.reduce((least, [first]) => Math.min(least, first), Infinity)
      const to = extents.reduce((most, [, last]) => Math.max(most, last), -Infinity)
      const count = extents.reduce((sum, [, , by]) => sum + by, 0)
      const verdict: Verdict = isNote?.(data, at, count) ? { ...stated, severity: 'note' } : stated
      return { ...verdict, from, to, at: at.slice(0, MOST_PLACES), count, what: what(data, at, count) }
    })
  })
