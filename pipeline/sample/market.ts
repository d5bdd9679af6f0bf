import type { Bar } from '#core/replay/strategy.ts'
import { BARS_PER_YEAR, createPriceProcess, type Move } from './price-process.ts'
import { createRandom, type Random } from './random.ts'

export type FundingEvent = { readonly t: number; readonly rate: number }

/** A synthetic perpetual: its bars of 4 hours without those of outages, and its funding of every 8 hours. */
export type Market = { readonly bars: readonly Bar[]; readonly funding: readonly FundingEvent[] }

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
  const funding: FundingEvent[] = []
  let premium = 0
  let outage = 0
  for (let i = 0; i < count; i++) {
    const t = fromMs + i * BAR_MS
    const move = next()
    const bar = toBar(t, move, random)
    outage = i < UNBROKEN_BARS || i >= count - UNBROKEN_BARS ? 0 : nextOutage(outage, random)
    if (outage === 0) bars.push(bar)
    premium = nextPremium(premium, move, random)
    if (t % FUNDING_MS === 0) funding.push({ t, rate: toRate(premium) })
  }
  return { bars, funding }
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

/** The price of a logarithm, on the tick grid. */
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
