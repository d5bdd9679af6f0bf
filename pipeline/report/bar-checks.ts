import { median } from 'simple-statistics'
import { DAY_MS, toEpochDay, toIsoInstant } from '#core/calendar.ts'
import { type Bars, endOfBars } from '#core/replay/bars.ts'
import { counted } from '../book/field.ts'
import type { Found } from './finding.ts'
import { all, type Check, each, inFuture, runChecks, runs } from './run-checks.ts'

/** A large move is no error: only one that is taken back within a bar, or that no market makes in one, is a finding. */
export const checkBars = (bars: Bars, nowMs: number): readonly Found[] =>
  runChecks(CHECKS, { ...bars, ...factsOf(bars), nowMs }, bars.t)

type Data = Bars & ReturnType<typeof factsOf> & { readonly nowMs: number }

const factsOf = (bars: Bars) => ({
  leastReversal: Math.max(NOTED_FACTOR, Math.exp(NOTED_MOVES * usualMove(bars))),
  isTraded: bars.v.some(volume => volume !== 0),
  tick: bars.c.reduce((least, _, i) => Math.min(least, stepOf(bars, i) || least), Infinity),
})

/** A gap of as many bars is longer than nearly every outage of an exchange on 4-hour bars. */
const LONG_GAP_BARS = 10

/** Shorter gaps are serious together if they are more than this share of the bars, and as many as a long one. */
const MAX_MISSING_SHARE = 0.005

/** A bar whose open or close is this many times off both neighbours, in the same direction. */
const SPIKE_FACTOR = 1.5

/** A high or low this many times off every open and close around it. */
const WICK_FACTOR = 2.5

/** A spike below these is printed if it is this many times the usual move of a bar and at least this large. */
const NOTED_MOVES = 12
const NOTED_FACTOR = 1.08

/** No liquid market moves by this factor in a bar; redenominations and other units do. */
const JUMP_FACTOR = 3

/** Runs that are shorter than either happen in quiet markets and during maintenance. */
const longRuns = runs<Data>(({ timeframeMs }) => Math.max(12, DAY_MS / timeframeMs))

/** As many bars in sequence that equal the one before in every column cannot happen with traded volume. */
const COPIED_BARS = 2

/** Closes in a straight line this long are interpolated. */
const STRAIGHT_BARS = 6

/** Equal steps of a few ticks happen by chance in a market whose tick is coarse. */
const STRAIGHT_TICKS = 5
const STRAIGHT_ERROR = 1e-7

/** Interpolated prices that are rounded to the tick bend by up to two ticks, which in longer steps is no chance. */
const ROUNDED_TICKS = { bend: 2, step: 20 }

/** Traded bars leave the range of open and close sooner or later; generated ones often never do. */
const BARS_WITHOUT_WICKS = 200

/** Everything that is checked in a set of bars by itself. Each check is O(bars). */
const CHECKS: readonly Check<Data>[] = [
  inFuture('bar', ({ t }, i) => t[i]!),
  {
    ...{ code: 'unfinished_bar', severity: 'blocking', group: all },
    is: (data, i) => i === data.t.length - 1 && data.t[i]! <= data.nowMs && endOfBars(data) > data.nowMs,
    // A running bar that ends the day would make the day look complete.
    isNote: data => toEpochDay(endOfBars(data)) <= toEpochDay(data.nowMs),
    what: data =>
      `the bar at ${toIsoInstant(data.t.at(-1)!)} ends at ${toIsoInstant(endOfBars(data))} and is not over`,
    fix: 'leave out a running bar',
  },
  {
    ...{ code: 'gap', severity: 'serious', group: each },
    is: (data, i) => missing(data, i) >= LONG_GAP_BARS,
    extent: gapBefore,
    what: (data, [i = 0], count) => {
      const [from, to] = gapBefore(data, i)
      return `expected a bar every ${data.timeframeMs / 60_000} minutes, got none from ${toIsoInstant(from)} to ${toIsoInstant(to)}: ${counted(count, 'bar')} missing`
    },
    fix: 'bring the missing bars; nothing is filled in',
  },
  {
    ...{ code: 'gaps', severity: 'serious', group: all, extent: gapBefore },
    is: (data, i) => missing(data, i) > 0 && missing(data, i) < LONG_GAP_BARS,
    isNote: (data, _, count) => count < LONG_GAP_BARS || count <= MAX_MISSING_SHARE * data.t.length,
    what: (_, at, count) => `${counted(count, 'bar')} missing in ${counted(at.length, 'short gap')}`,
    fix: 'bring the missing bars; nothing is filled in',
  },
  {
    ...{ code: 'spike', severity: 'serious', group: each },
    is: (data, i) => spikeOf(data, i) >= SPIKE_FACTOR,
    what: (data, [i = 0]) =>
      `the bar at ${toIsoInstant(data.t[i]!)} reaches a price ${spell(spikeOf(data, i))} times off its neighbours: o ${data.o[i]}, h ${data.h[i]}, l ${data.l[i]}, c ${data.c[i]}, between ${neighbours(data, i).join(' and ')}`,
    fix: 'compare it with another source and correct the row',
  },
  {
    ...{ code: 'reversals', severity: 'note', group: all },
    is: (data, i) => spikeOf(data, i) > data.leastReversal && spikeOf(data, i) < SPIKE_FACTOR,
    what: (data, at) => {
      const largest = at.reduce((a, b) => (spikeOf(data, b) > spikeOf(data, a) ? b : a))
      return `${counted(at.length, 'bar')} whose move the next bar takes back, the largest at ${toIsoInstant(data.t[largest]!)}, by ${spell((spikeOf(data, largest) - 1) * 100)} %`
    },
    fix: 'compare them with another source',
  },
  {
    ...{ code: 'jump', severity: 'serious', group: each },
    is: (data, i) => {
      const { o, c } = data
      const before = c[i - 1] ?? Number.NaN // nothing jumps in the first bar: every comparison with NaN is false
      const isSpike = reversal(before, c[i]!, neighbours(data, i)[1]) >= SPIKE_FACTOR
      const isReturn = i > 1 && reversal(c[i - 2]!, before, o[i]!) >= SPIKE_FACTOR
      return Math.min(ratio(before, o[i]!), ratio(before, c[i]!)) >= JUMP_FACTOR && !isSpike && !isReturn
    },
    what: ({ t, o, c }, [i = 0]) =>
      `the price goes from ${c[i - 1]} to ${o[i]} at ${toIsoInstant(t[i]!)} and stays there`,
    fix: 'correct the unit, or adjust the bars before a redenomination',
  },
  {
    ...{ code: 'flat_run', severity: 'serious', group: longRuns },
    is: ({ o, h, l, c }, i) => i > 0 && h[i] === l[i] && o[i] === c[i - 1] && c[i] === c[i - 1],
    what: (data, run) => `the price does not move in ${barsFrom(data, run)}, at ${data.c[run[0]!]}`,
    fix: 'leave out bars without trades: a gap is legal, a filled one is not',
  },
  {
    ...{ code: 'no_volume', severity: 'note', group: all },
    is: ({ v }, i) => v[i] === 0,
    what: ({ v }, { length }) =>
      `the volume is 0 in ${length === v.length ? 'every bar' : counted(length, 'bar')}`,
    fix: 'leave v blank if it is not known',
  },
  {
    ...{ code: 'zero_volume', severity: 'serious', group: longRuns },
    is: ({ isTraded, h, l, v }, i) => isTraded && v[i] === 0 && h[i]! > l[i]!,
    what: (data, run) => `the price moves without volume in ${barsFrom(data, run)}`,
    fix: 'bring bars of a market with trades, or leave v blank if it is not known',
  },
  {
    ...{ code: 'copied_bars', severity: 'serious', group: runs(() => COPIED_BARS) },
    is: ({ o, h, l, c, v }, i) =>
      v[i]! > 0 && h[i]! > l[i]! && [o, h, l, c, v].every(column => column[i] === column[i - 1]),
    what: (data, run) => `${barsFrom(data, run)} equal the bar before in every column`,
    fix: 'leave out bars that were filled in',
  },
  {
    ...{ code: 'straight_line', severity: 'serious', group: runs(() => STRAIGHT_BARS) },
    is: (data, i) => {
      const { c, tick } = data
      const step = stepOf(data, i)
      const rounded = step < ROUNDED_TICKS.step * tick ? 0 : (ROUNDED_TICKS.bend + 1e-6) * tick
      const bend = Math.abs(c[i]! - 2 * c[i - 1]! + c[i - 2]!)
      return step >= STRAIGHT_TICKS * tick && bend <= Math.max(STRAIGHT_ERROR * c[i]!, rounded)
    },
    what: (data, run) =>
      `the closes of ${barsFrom(data, run)} are in a straight line, as interpolated ones are`,
    fix: 'leave out bars that were filled in: a gap is legal',
  },
  {
    ...{ code: 'no_wicks', severity: 'serious', group: runs(() => BARS_WITHOUT_WICKS) },
    is: ({ o, h, l, c }, i) =>
      h[i]! > l[i]! && h[i] === Math.max(o[i]!, c[i]!) && l[i] === Math.min(o[i]!, c[i]!),
    what: (data, run) =>
      `in ${barsFrom(data, run)}, no price leaves the range of open and close, as in generated bars`,
    fix: 'bring the bars of a market',
  },
]

const barsFrom = ({ t }: Bars, run: readonly number[]): string =>
  `${counted(run.length, 'bar')} from ${toIsoInstant(t[run[0]!]!)} on`

const missing = ({ t, timeframeMs }: Bars, i: number): number =>
  i === 0 ? 0 : Math.round((t[i]! - t[i - 1]!) / timeframeMs) - 1

function gapBefore(bars: Bars, i: number): readonly [from: number, to: number, count: number] {
  return [bars.t[i - 1]! + bars.timeframeMs, bars.t[i]! - bars.timeframeMs, missing(bars, i)]
}

/** How far a close is from the one before. */
const stepOf = ({ c }: Bars, i: number): number => Math.abs(c[i]! - c[i - 1]!)

/** How many times a bar is off its neighbours. */
function spikeOf(bars: Bars, i: number): number {
  const [o, h, l, c] = [bars.o[i]!, bars.h[i]!, bars.l[i]!, bars.c[i]!]
  const [before, after] = neighbours(bars, i)
  const wick = Math.max(h / Math.max(o, c, before, after), Math.min(o, c, before, after) / l)
  return wick >= WICK_FACTOR ? wick : Math.max(reversal(before, o, after), reversal(before, c, after))
}

/** The close before and the open after a bar. After the last bar a price is taken to return only if it jumped. */
function neighbours({ o, c }: Bars, i: number): readonly [number, number] {
  const before = c[i - 1] ?? o[i]!
  const isJump = i > 0 && ratio(before, c[i]!) >= JUMP_FACTOR
  return [before, o[i + 1] ?? (isJump ? before : c[i]!)]
}

/** How many times a price is off both neighbours, in the same direction; 1 if it is between them. */
const reversal = (before: number, price: number, after: number): number =>
  Math.max(1, Math.min(price / before, price / after), Math.min(before / price, after / price))

const ratio = (a: number, b: number): number => Math.max(a / b, b / a)

/** Enough for a median. */
const SAMPLED_MOVES = 20_000

/** The median of the moves from close to close, logarithms. */
function usualMove({ c }: Bars): number {
  const moves: number[] = []
  const step = Math.ceil(c.length / SAMPLED_MOVES)
  for (let i = 1; i < c.length; i += step)
    if (c[i] !== c[i - 1]) moves.push(Math.abs(Math.log(c[i]! / c[i - 1]!)))
  return moves.length === 0 ? 0 : median(moves)
}

const spell = (value: number): string => String(Number(value.toPrecision(3)))
