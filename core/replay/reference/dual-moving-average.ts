import type { Strategy } from '../strategy.ts'
import { enter } from './enter.ts'
import {
  type Atr,
  createAtr,
  createWindow,
  mean,
  push,
  settledAfter,
  updateAtr,
  type Window,
} from './indicators.ts'
import { type CommonParams, FOUR_HOURS_MS } from './params.ts'

export type DualMovingAverageParams = CommonParams & {
  readonly fastBars?: number
  readonly slowBars?: number
  readonly atrBars?: number
  readonly stopAtrs?: number
}

export type DualMovingAverageState = {
  readonly fast: Window
  readonly slow: Window
  readonly atr: Atr
  /** Whether the fast average was above the slow one at the last bar; null before there were both. */
  above: boolean | null
}

/**
 * Two simple moving averages: long when the fast one crosses above the slow one, short when it crosses below.
 * Each cross ends the trade of the one before and begins its opposite, so after a stop it waits for the next
 * cross.
 *
 * The rule has an exit of its own, so the stop is only for the case that the cross comes too late. Three
 * average true ranges are what a trend may well take back without turning.
 */
export function dualMovingAverage({
  id,
  timeframeMs = FOUR_HOURS_MS,
  baseRisk = 0.02,
  fastBars = 50,
  slowBars = 200,
  atrBars = 20,
  stopAtrs = 3,
}: DualMovingAverageParams): Strategy<DualMovingAverageState> {
  return {
    id,
    version: '1',
    timeframeMs,
    baseRisk,
    warmupBars: Math.max(slowBars, settledAfter(atrBars)),

    init: () => ({
      fast: createWindow(fastBars),
      slow: createWindow(slowBars),
      atr: createAtr(atrBars),
      above: null,
    }),

    onBar(state, bar) {
      push(state.fast, bar.c)
      push(state.slow, bar.c)
      const fast = mean(state.fast)
      const slow = mean(state.slow)
      const atr = updateAtr(state.atr, bar)
      if (fast === null || slow === null || atr === null) return null

      const above = fast > slow
      const crossed = state.above !== null && above !== state.above
      state.above = above
      return crossed ? enter(above ? 'long' : 'short', bar.c, stopAtrs * atr) : null
    },
  }
}
