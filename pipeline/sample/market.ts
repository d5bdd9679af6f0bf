import { DAY_MS, toEpochDay } from '#core/calendar.ts'
import { type Bars, barAt, type Funding, toBars } from '#core/replay/bars.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { spellMoment } from '../book/cell.ts'
import { barsText, tableText } from '../book/write-table.ts'
import { createRandom, type Random } from './random.ts'

/** A synthetic perpetual: its bars of 4 hours without those of outages, and its funding of every 8 hours. */
export type Market = { readonly bars: Bars; readonly funding: Funding }

export const BAR_MS = 14_400_000

/** The tick size is 0.1. Its inverse is a whole number, and so rounds to the decimal that is written. */
const TICKS_PER_UNIT = 10

const FUNDING_MS = 2 * BAR_MS

/** A handful a year, each shorter than a day: a day without any bar would be another story. */
const OUTAGES_PER_YEAR = 1.5
const MAX_OUTAGE_BARS = 4

/** No outage this near to either end, so that the first and the last day are whole. */
const UNBROKEN_BARS = 12

/** Market of the bars that open in `[fromMs, toMs)`, both on the grid; the same for the same arguments. */
export function createMarket(seed: number, fromMs: number, toMs: number): Market {
  const random = createRandom(seed)
  const next = createPriceProcess(random)
  const count = (toMs - fromMs) / BAR_MS
  const bars: Bar[] = []
  const funding = { t: [] as number[], rate: [] as number[] }
  let premium = 0
  let outage = 0
  for (let i = 0; i < count; i++) {
    const t = fromMs + i * BAR_MS
    const move = next()
    const bar = toBar(t, move, random)
    outage = i < UNBROKEN_BARS || i >= count - UNBROKEN_BARS ? 0 : nextOutage(outage, random)
    if (outage === 0) bars.push(bar)
    premium = nextPremium(premium, move, random)
    if (t % FUNDING_MS !== 0) continue
    funding.t.push(t)
    funding.rate.push(toRate(premium))
  }
  return {
    bars: toBars(BAR_MS, name => Float64Array.from(bars, bar => bar[name])),
    funding: { t: Float64Array.from(funding.t), rate: Float64Array.from(funding.rate) },
  }
}

/** Contracts of the base asset that change hands in a bar of typical volatility. */
const TYPICAL_VOLUME = 9000
const TYPICAL_SIGMA = 0.01
const VOLUME_STD = 0.35

function toBar(t: number, { open, high, low, close, sigma }: Move, random: Random): Bar {
  const o = toTick(open)
  const c = toTick(close)
  const volume = TYPICAL_VOLUME * (sigma / TYPICAL_SIGMA) * Math.exp(VOLUME_STD * random.normal())
  return {
    t,
    o,
    h: Math.max(toTick(high), o, c),
    l: Math.min(toTick(low), o, c),
    c,
    v: Math.round(volume * 1000) / 1000,
  }
}

const toTick = (logPrice: number): number => Math.round(Math.exp(logPrice) * TICKS_PER_UNIT) / TICKS_PER_UNIT

/** Bars that the outage still lasts, this one included. */
function nextOutage(left: number, random: Random): number {
  if (left > 0) return left - 1
  return random.uniform() < OUTAGES_PER_YEAR / BARS_PER_YEAR
    ? Math.ceil(random.uniform() * MAX_OUTAGE_BARS)
    : 0
}

/** Longs pay 0.01 % at rest, as exchanges set it; more while the price tends up, less while it tends down. */
const RESTING_RATE = 0.0001
const TREND_RATE = 0.00015
const RATE_STD = 0.00002
const RATE_REVERSION = 0.03
const MAX_RATE = 0.003

const nextPremium = (premium: number, { direction }: Move, random: Random): number =>
  premium + RATE_REVERSION * (direction * TREND_RATE - premium) + RATE_STD * random.normal()

/** Eight decimals, as exchanges publish it. */
function toRate(premium: number): number {
  const rate = Math.min(Math.max(RESTING_RATE + premium, -MAX_RATE), MAX_RATE)
  return Math.round(rate * 1e8) / 1e8
}

/**
 * One bar of a price that never rests, in logarithms: before it is rounded to ticks and written down. `sigma` is the standard
 * deviation of its return; `direction` is +1 while the price tends up, -1 while it tends down, else 0.
 */
type Move = ReturnType<ReturnType<typeof createPriceProcess>>

/** Years of 365 days, in bars of 4 hours. */
const BARS_PER_YEAR = 2190
const BARS_PER_DAY = 6

/** All parameters in one place; none is fitted to a market, each is a round number of a plausible size. */
const P = {
  start_price: 10_000,
  /** The level that the price is loosely tied to: it keeps a decade within a factor of some tens. */
  growth_per_year: 0.25,
  homing_per_year: 0.5,
  /** Volatility: a slow and a fast factor, each an Ornstein-Uhlenbeck process in the logarithm. */
  annual_sigma: 0.22,
  slow_days: 60,
  slow_std: 0.5,
  fast_days: 4,
  fast_std: 0.32,
  /** A fall of one standard deviation raises the fast factor by this much. */
  leverage_effect: 0.04,
  /** One return in twelve or so comes from a wider distribution: fat tails. */
  wide_share: 0.08,
  wide_factor: 2.6,
  jumps_per_year: 10,
  jump_mean: -0.01,
  jump_std: 0.075,
  /** A jump beyond this is cut: an exchange halts, or the market is gone. */
  jump_limit: 0.3,
  /** Regimes last `regime_days` on average; the share of days in each. */
  regime_days: 30,
  up_share: 0.38,
  down_share: 0.32,
  /** Drift of a trend, in standard deviations of a bar. */
  trend_drift: 0.085,
  /** In a range the price is drawn to its average of `average_days` by this share of the distance a bar. */
  range_pull: 0.012,
  average_days: 25,
} as const

/** Everything that the next bar depends on. */
const startState = (start: number) => ({
  ...{ bar: 0, price: start, average: start, slow: 0, fast: 0 },
  ...{ direction: 0 as 1 | 0 | -1, barsLeft: 0 },
})

type State = ReturnType<typeof startState>

/**
 * A synthetic price with what makes real ones hard: volatility that clusters on two scales and rises when the
 * price falls, fat tails, jumps, and regimes of trend and reversal. Bars of 4 hours; each call gives the next
 * one.
 */
function createPriceProcess(random: Random) {
  const state = startState(Math.log(P.start_price))

  return () => {
    moveRegime(state, random)
    state.slow = revert(state.slow, P.slow_days, P.slow_std, random)
    state.fast = revert(state.fast, P.fast_days, P.fast_std, random)
    const sigma = (P.annual_sigma / Math.sqrt(BARS_PER_YEAR)) * Math.exp(state.slow + state.fast)
    const shock = sigma * random.normal() * (random.uniform() < P.wide_share ? P.wide_factor : 1)
    const open = state.price
    const close = open + driftOf(state, sigma) + shock + jump(random)
    state.fast += P.leverage_effect * Math.max(0, -shock / sigma)
    state.price = close
    state.average += (close - state.average) / (P.average_days * BARS_PER_DAY)
    state.bar += 1
    return { open, ...extremes(open, close, sigma, random), close, sigma, direction: state.direction }
  }
}

/** Regimes have an exponential duration, so that the past does not predict their end. */
function moveRegime(state: State, random: Random): void {
  if (state.barsLeft > 0) {
    state.barsLeft -= 1
    return
  }
  const draw = random.uniform()
  state.direction = draw < P.up_share ? 1 : draw < P.up_share + P.down_share ? -1 : 0
  state.barsLeft = Math.ceil(-Math.log(random.uniform()) * P.regime_days * BARS_PER_DAY)
}

/** One step of an Ornstein-Uhlenbeck process around 0 with the stationary deviation `std`. */
function revert(value: number, days: number, std: number, random: Random): number {
  const rate = 1 / (days * BARS_PER_DAY)
  return value * (1 - rate) + std * Math.sqrt(2 * rate) * random.normal()
}

function driftOf({ bar, price, average, direction }: State, sigma: number): number {
  const home = Math.log(P.start_price) + (P.growth_per_year * bar) / BARS_PER_YEAR
  const homing = (P.homing_per_year * (home - price)) / BARS_PER_YEAR
  const regime = direction === 0 ? P.range_pull * (average - price) : direction * P.trend_drift * sigma
  return homing + regime
}

function jump(random: Random): number {
  if (random.uniform() >= P.jumps_per_year / BARS_PER_YEAR) return 0
  const size = P.jump_mean + P.jump_std * random.normal()
  return Math.min(Math.max(size, -P.jump_limit), P.jump_limit)
}

/** The highest and lowest point of a Brownian bridge between the two ends, by their exact distributions. */
function extremes(open: number, close: number, sigma: number, random: Random) {
  const reach = () => Math.sqrt((close - open) ** 2 - 2 * sigma ** 2 * Math.log(random.uniform()))
  return { high: (open + close + reach()) / 2, low: (open + close - reach()) / 2 }
}

/** The market as files of a book. Plain text: what gzip makes differs from machine to machine. */
export const marketFiles = (instrument: string, { bars, funding }: Market) => ({
  [`bars/${instrument}/4h.csv`]: barsText(bars),
  [`funding/${instrument}.csv`]: tableText(
    't,rate',
    Array.from(funding.t, (ms, i) => [spellMoment(ms), funding.rate[i]!.toFixed(8)]),
  ),
})

/** The same prices as a spot market by the day: in this market perpetual and spot have one price. */
export const spotFiles = (instrument: string, { bars }: Market) => ({
  [`bars/${instrument}/1d.csv`]: barsText(dailyBars(bars)),
})

/** Bars of a day each from shorter ones, all volume to three decimals. An outage shorter than a day leaves no day out. */
function dailyBars(bars: Bars): Bars {
  const rows = Array.from(bars.t, (_, i) => barAt(bars, i))
  const days = [...Map.groupBy(rows, ({ t }) => toEpochDay(t))].map(toDay)
  return toBars(DAY_MS, name => Float64Array.from(days, day => day[name]))
}

const toDay = ([day, bars]: readonly [number, readonly Bar[]]): Bar => ({
  t: day * DAY_MS,
  o: bars[0]!.o,
  h: Math.max(...bars.map(({ h }) => h)),
  l: Math.min(...bars.map(({ l }) => l)),
  c: bars.at(-1)!.c,
  v: Math.round(bars.reduce((sum, { v }) => sum + v, 0) * 1000) / 1000,
})
