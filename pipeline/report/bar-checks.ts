import { median } from 'simple-statistics'
import { DAY_MS, toEpochDay, toIsoInstant } from '#core/calendar.ts'
import { type Bars, endOfBars } from '#core/replay/bars.ts'
import { counted } from '../book/field.ts'
import { type Found, MOST_PLACES, type Verdict } from './finding.ts'

type BarCheck = (bars: Bars, nowMs: number) => readonly Found[]

/** Everything that is checked in a set of bars by itself. Each check is O(bars). */
const BAR_CHECKS: readonly BarCheck[] = [
  findFuture,
  findGaps,
  findSpikes,
  findJumps,
  findFlatRuns,
  findZeroVolume,
  findCopies,
  findStraightLines,
  findMissingWicks,
]

/**
 * Checks bars for errors of their source. A large move is not an error: only one that is taken back within a bar, or that
 * no market makes in a bar, is a finding, and the operator may accept each.
 */
export const checkBars = (bars: Bars, nowMs: number): readonly Found[] =>
  bars.t.length === 0 ? [] : BAR_CHECKS.flatMap(check => check(bars, nowMs))

function findFuture(bars: Bars, nowMs: number): Found[] {
  const { t } = bars
  const future = indicesOf(t.length, i => t[i]! > nowMs)
  const running = t.length - 1 - future.length
  if (future.length > 0)
    return [
      overBars(bars, future, {
        code: 'future_bars',
        severity: 'blocking',
        what: `${counted(future.length, 'bar')} of the future, the last at ${toIsoInstant(t.at(-1)!)}, while it is ${toIsoInstant(nowMs)}`,
        fix: 'remove them, or correct the unit or the zone of the times',
      }),
    ]
  if (endOfBars(bars) <= nowMs) return []
  // A running bar that ends the day would make the day look complete.
  const severity = toEpochDay(endOfBars(bars)) > toEpochDay(nowMs) ? 'blocking' : 'note'
  const what = `the bar at ${toIsoInstant(t[running]!)} ends at ${toIsoInstant(endOfBars(bars))} and is not over`
  return [
    overBars(bars, [running], { code: 'unfinished_bar', severity, what, fix: 'leave out a running bar' }),
  ]
}

/** A gap of as many bars is longer than nearly every outage of an exchange on 4-hour bars. */
const LONG_GAP_BARS = 10

/** Shorter gaps are serious together if they are more than this share of the bars, and as many as a long one. */
const MAX_MISSING_SHARE = 0.005

function findGaps(bars: Bars): Found[] {
  const { t, timeframeMs } = bars
  const missing = (i: number): number => Math.round((t[i]! - t[i - 1]!) / timeframeMs) - 1
  const all = indicesOf(t.length, i => i > 0 && missing(i) > 0)
  const span = (first: number, last: number) => ({
    from: t[first - 1]! + timeframeMs,
    to: t[last]! - timeframeMs,
  })
  const fix = 'bring the missing bars; nothing is filled in'
  const long = all
    .filter(i => missing(i) >= LONG_GAP_BARS)
    .map((i): Found => {
      const { from, to } = span(i, i)
      const what = `expected a bar every ${timeframeMs / 60_000} minutes, got none from ${toIsoInstant(from)} to ${toIsoInstant(to)}: ${counted(missing(i), 'bar')} missing`
      return { code: 'gap', severity: 'serious', from, to, at: [i], count: missing(i), what, fix }
    })
  const short = all.filter(i => missing(i) < LONG_GAP_BARS)
  if (short.length === 0) return long
  const count = short.reduce((sum, i) => sum + missing(i), 0)
  const isMuch = count >= LONG_GAP_BARS && count > MAX_MISSING_SHARE * t.length
  const what = `${counted(count, 'bar')} missing in ${counted(short.length, 'short gap')}`
  const severity = isMuch ? 'serious' : 'note'
  const at = short.slice(0, MOST_PLACES)
  return [...long, { code: 'gaps', severity, ...span(short[0]!, short.at(-1)!), at, count, what, fix }]
}

/** A bar whose open or close is this many times off both neighbours, in the same direction. */
const SPIKE_FACTOR = 1.5

/** A high or low this many times off every open and close around it. */
const WICK_FACTOR = 2.5

/** A spike below these is printed if it is this many times the usual move of a bar and at least this large. */
const NOTED_MOVES = 12
const NOTED_FACTOR = 1.08

function findSpikes(bars: Bars): Found[] {
  const { o, h, l, c } = bars
  const size = (i: number): number => {
    const [before, after] = neighbours(bars, i)
    const [low, high] = [Math.min(o[i]!, c[i]!, before, after), Math.max(o[i]!, c[i]!, before, after)]
    const wick = Math.max(h[i]! / high, low / l[i]!)
    const body = Math.max(reversal(before, o[i]!, after), reversal(before, c[i]!, after))
    return wick >= WICK_FACTOR ? wick : body
  }
  const inside = indicesOf(c.length, i => size(i) >= NOTED_FACTOR)
  const usual = usualMove(bars)
  const noted = inside.filter(i => size(i) < SPIKE_FACTOR && Math.log(size(i)) > NOTED_MOVES * usual)
  const largest = noted.reduce((a, b) => (size(b) > size(a) ? b : a), noted[0] ?? 0)
  const spikes = inside
    .filter(i => size(i) >= SPIKE_FACTOR)
    .map(i =>
      overBars(bars, [i], {
        code: 'spike',
        severity: 'serious',
        what: `the bar at ${toIsoInstant(bars.t[i]!)} reaches a price ${spell(size(i))} times off its neighbours: o ${o[i]}, h ${h[i]}, l ${l[i]}, c ${c[i]}, between ${neighbours(bars, i).join(' and ')}`,
        fix: 'compare it with another source and correct the row',
      }),
    )
  if (noted.length === 0) return spikes
  const what = `${counted(noted.length, 'bar')} whose move the next bar takes back, the largest at ${toIsoInstant(bars.t[largest]!)}, by ${spell((size(largest) - 1) * 100)} %`
  const fix = 'compare them with another source'
  return [...spikes, overBars(bars, noted, { code: 'reversals', severity: 'note', what, fix })]
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

/** No liquid market moves by this factor in a bar; redenominations and other units do. */
const JUMP_FACTOR = 3

function findJumps(bars: Bars): Found[] {
  const { t, o, c } = bars
  const isJump = (i: number): boolean => {
    const [opened, closed] = [ratio(c[i - 1]!, o[i]!), ratio(c[i - 1]!, c[i]!)]
    const isSpike = reversal(c[i - 1]!, c[i]!, neighbours(bars, i)[1]) >= SPIKE_FACTOR
    const isReturn = i > 1 && reversal(c[i - 2]!, c[i - 1]!, o[i]!) >= SPIKE_FACTOR
    return Math.min(opened, closed) >= JUMP_FACTOR && !isSpike && !isReturn
  }
  return indicesOf(c.length, i => i > 0 && isJump(i)).map(i =>
    overBars(bars, [i], {
      code: 'jump',
      severity: 'serious',
      what: `the price goes from ${c[i - 1]} to ${o[i]} at ${toIsoInstant(t[i]!)} and stays there`,
      fix: 'correct the unit, or adjust the bars before a redenomination',
    }),
  )
}

const ratio = (a: number, b: number): number => Math.max(a / b, b / a)

/** Runs that are shorter than either happen in quiet markets and during maintenance. */
const LONG_RUN_BARS = 12
const LONG_RUN_MS = DAY_MS

function findFlatRuns(bars: Bars): Found[] {
  const { o, h, l, c } = bars
  const isFlat = (i: number): boolean => i > 0 && h[i] === l[i] && o[i] === c[i - 1] && c[i] === c[i - 1]
  return longRuns(bars, isFlat, run => ({
    code: 'flat_run',
    what: `the price does not move in ${counted(run.length, 'bar')} from ${toIsoInstant(bars.t[run[0]!]!)} on, at ${c[run[0]!]}`,
    fix: 'leave out bars without trades: a gap is legal, a filled one is not',
  }))
}

function findZeroVolume(bars: Bars): Found[] {
  const { t, h, l, v } = bars
  const empty = indicesOf(v.length, i => v[i] === 0)
  if (empty.length === 0) return []
  const what = `the volume is 0 in ${empty.length === v.length ? 'every bar' : counted(empty.length, 'bar')}`
  const note = overBars(bars, empty, {
    code: 'no_volume',
    severity: 'note',
    what,
    fix: 'leave v blank if it is not known',
  })
  if (empty.length === v.length) return [note]
  const moving = longRuns(
    bars,
    i => v[i] === 0 && h[i]! > l[i]!,
    run => ({
      code: 'zero_volume',
      what: `the price moves without volume in ${counted(run.length, 'bar')} from ${toIsoInstant(t[run[0]!]!)} on`,
      fix: 'bring bars of a market with trades, or leave v blank if it is not known',
    }),
  )
  return [note, ...moving]
}

/** As many bars in sequence that equal the one before in every column cannot happen with traded volume. */
const COPIED_BARS = 2

function findCopies(bars: Bars): Found[] {
  const columns = [bars.o, bars.h, bars.l, bars.c, bars.v]
  const isCopy = (i: number): boolean =>
    i > 0 && bars.v[i]! > 0 && bars.h[i]! > bars.l[i]! && columns.every(each => each[i] === each[i - 1])
  return runsOf(bars.t.length, isCopy, COPIED_BARS).map(run =>
    overBars(bars, run, {
      code: 'copied_bars',
      severity: 'serious',
      what: `${counted(run.length, 'bar')} from ${toIsoInstant(bars.t[run[0]!]!)} on equal the bar before in every column`,
      fix: 'leave out bars that were filled in',
    }),
  )
}

/** Closes in a straight line this long are interpolated. */
const STRAIGHT_BARS = 6

/** Equal steps of a few ticks happen by chance in a market whose tick is coarse. */
const STRAIGHT_TICKS = 5
const STRAIGHT_ERROR = 1e-7

function findStraightLines(bars: Bars): Found[] {
  const { c } = bars
  const step = (i: number): number => c[i]! - c[i - 1]!
  let tick = Number.POSITIVE_INFINITY
  for (let i = 1; i < c.length; i++) if (step(i) !== 0) tick = Math.min(tick, Math.abs(step(i)))
  const isStraight = (i: number): boolean =>
    i > 1 &&
    Math.abs(step(i)) >= STRAIGHT_TICKS * tick &&
    Math.abs(step(i) - step(i - 1)) <= STRAIGHT_ERROR * c[i]!
  return runsOf(c.length, isStraight, STRAIGHT_BARS).map(run =>
    overBars(bars, run, {
      code: 'straight_line',
      severity: 'serious',
      what: `the closes of ${counted(run.length, 'bar')} from ${toIsoInstant(bars.t[run[0]!]!)} on are in a straight line, as interpolated ones are`,
      fix: 'leave out bars that were filled in: a gap is legal',
    }),
  )
}

/** Traded bars leave the range of open and close sooner or later; generated ones often never do. */
const BARS_WITHOUT_WICKS = 200

function findMissingWicks(bars: Bars): Found[] {
  const { o, h, l, c } = bars
  const isBare = (i: number): boolean =>
    h[i]! > l[i]! && h[i] === Math.max(o[i]!, c[i]!) && l[i] === Math.min(o[i]!, c[i]!)
  return runsOf(c.length, isBare, BARS_WITHOUT_WICKS).map(run =>
    overBars(bars, run, {
      code: 'no_wicks',
      severity: 'serious',
      what: `in ${counted(run.length, 'bar')} from ${toIsoInstant(bars.t[run[0]!]!)} on, no price leaves the range of open and close, as in generated bars`,
      fix: 'bring the bars of a market',
    }),
  )
}

type Sentences<Code> = { readonly code: Code; readonly what: string; readonly fix: string }

/** A serious finding for each long run. */
const longRuns = (
  bars: Bars,
  isIn: (i: number) => boolean,
  describe: (run: readonly number[]) => Sentences<'flat_run' | 'zero_volume'>,
): Found[] => {
  const least = Math.max(LONG_RUN_BARS, LONG_RUN_MS / bars.timeframeMs)
  return runsOf(bars.t.length, isIn, least).map(run =>
    overBars(bars, run, { ...describe(run), severity: 'serious' }),
  )
}

/** A finding about bars of these indices, ascending. */
const overBars = ({ t }: Bars, indices: readonly number[], verdict: Verdict): Found => ({
  ...verdict,
  from: t[indices[0]!]!,
  to: t[indices.at(-1)!]!,
  at: indices.slice(0, MOST_PLACES),
  count: indices.length,
})

function indicesOf(length: number, isIn: (i: number) => boolean): number[] {
  const indices: number[] = []
  for (let i = 0; i < length; i++) if (isIn(i)) indices.push(i)
  return indices
}

/** The runs of at least `least` consecutive indices. */
function runsOf(length: number, isIn: (i: number) => boolean, least: number): number[][] {
  const runs: number[][] = []
  let start = 0
  for (let i = 0; i <= length; i++) {
    if (i < length && isIn(i)) continue
    if (i - start >= least) runs.push(Array.from({ length: i - start }, (_, k) => start + k))
    start = i + 1
  }
  return runs
}

const spell = (value: number): string => String(Number(value.toPrecision(3)))
