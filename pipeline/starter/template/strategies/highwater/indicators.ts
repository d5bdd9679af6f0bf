// Indicators for strategy modules, and the distance of a stop. Each indicator is a small plain object, so that the state
// of a strategy survives JSON, and a function that takes the next value; it returns null until it has seen enough bars.
import type { Bar, Decision, Side } from '#core/replay/strategy.ts'

export const FOUR_HOURS_MS = 4 * 3_600_000

/**
 * Enters with the stop `distance` from the close, on the losing side. Returns null if that is no stop: in a market that
 * does not move (the distance is 0, or too small to change the price), and if the stop of a long would be 0 or less.
 */
export function enter(side: Side, close: number, distance: number): Decision {
  const stop = side === 'long' ? close - distance : close + distance
  return stop === close || stop <= 0 ? null : { act: side, stop }
}

/** The last `size` values. The oldest is overwritten in place, so the memory is bounded. */
export type Window = { readonly size: number; values: number[]; oldest: number }

export const createWindow = (size: number): Window => ({ size, values: [], oldest: 0 })

/**
 * Takes the next value in, and gives the one that drops out: the value of `size` bars ago, null while
 * filling.
 */
export function push(window: Window, value: number): number | null {
  if (window.values.length < window.size) {
    window.values.push(value)
    return null
  }
  const dropped = window.values[window.oldest]!
  window.values[window.oldest] = value
  window.oldest = (window.oldest + 1) % window.size
  return dropped
}

/** The simple moving average (SMA): the mean of a full window. */
export function mean({ size, values, oldest }: Window): number | null {
  if (values.length < size) return null
  // From the oldest value to the newest, so that the sum is rounded the same way wherever the ring happens to begin: two
  // runs with different starts then agree to the last bit. A running sum would not.
  let sum = values[oldest]!
  for (let i = oldest + 1; i < size; i++) sum += values[i]!
  for (let i = 0; i < oldest; i++) sum += values[i]!
  return sum / size
}

function highest({ size, values }: Window): number | null {
  if (values.length < size) return null
  let high = values[0]!
  for (let i = 1; i < size; i++) if (values[i]! > high) high = values[i]!
  return high
}

function lowest({ size, values }: Window): number | null {
  if (values.length < size) return null
  let low = values[0]!
  for (let i = 1; i < size; i++) if (values[i]! < low) low = values[i]!
  return low
}

/** The range of the last `size` bars: highest high and lowest low. */
export type Channel = { readonly highs: Window; readonly lows: Window }

export const createChannel = (size: number): Channel => ({
  highs: createWindow(size),
  lows: createWindow(size),
})

/** Takes the bar in, and gives the range of the bars before it: no bar can leave a range that contains it. */
export function updateChannel({ highs, lows }: Channel, bar: Bar): { high: number; low: number } | null {
  const high = highest(highs)
  const low = lowest(lows)
  push(highs, bar.h)
  push(lows, bar.l)
  return high === null || low === null ? null : { high, low }
}

/**
 * An exponentially smoothed average, seeded with the simple average of its first `length` values, as charting
 * tools do. `weight` is that of the newest value. It forgets its start by the factor 1 - weight a bar, and
 * never quite.
 */
export type Smoothed = { readonly length: number; readonly weight: number; seen: number; value: number }

/** The exponential moving average (EMA): weight 2 / (length + 1). */
export const createEma = (length: number): Smoothed => ({
  length,
  weight: 2 / (length + 1),
  seen: 0,
  value: 0,
})

/** Wilder's average, as in ATR and RSI: weight 1 / length. */
export const createWilder = (length: number): Smoothed => ({ length, weight: 1 / length, seen: 0, value: 0 })

export function updateAverage(average: Smoothed, value: number): number | null {
  if (average.seen < average.length) {
    average.seen += 1
    average.value += value / average.length
  } else {
    average.value += average.weight * (value - average.value)
  }
  return average.seen < average.length ? null : average.value
}

/**
 * Bars after which a smoothed average of this length has forgotten its start for every practical purpose:
 * after ten lengths less than e^-10, half a ten-thousandth of the seed, is left in it.
 */
export const settledAfter = (length: number): number => 10 * length

/**
 * The average true range (ATR): Wilder's average of the range of a bar, with the gap from the close before
 * it.
 */
export type Atr = { readonly average: Smoothed; close: number | null }

export const createAtr = (length: number): Atr => ({ average: createWilder(length), close: null })

export function updateAtr(atr: Atr, bar: Bar): number | null {
  const before = atr.close ?? bar.c
  atr.close = bar.c
  return updateAverage(atr.average, Math.max(bar.h, before) - Math.min(bar.l, before))
}

/**
 * The relative strength index (RSI), 0 to 100: the share of the gains in Wilder's averages of gains and
 * losses.
 */
export type Rsi = { readonly gains: Smoothed; readonly losses: Smoothed; close: number | null }

export const createRsi = (length: number): Rsi => ({
  gains: createWilder(length),
  losses: createWilder(length),
  close: null,
})

export function updateRsi(rsi: Rsi, close: number): number | null {
  const change = rsi.close === null ? null : close - rsi.close
  rsi.close = close
  if (change === null) return null
  const gain = updateAverage(rsi.gains, Math.max(change, 0))
  const loss = updateAverage(rsi.losses, Math.max(-change, 0))
  if (gain === null || loss === null) return null
  return gain + loss === 0 ? 50 : (100 * gain) / (gain + loss)
}
