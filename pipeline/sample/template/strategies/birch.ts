// Synthetic sample: a textbook rule, untuned, on a market that never was.
import type { Strategy } from '#core/replay/strategy.ts'
import {
  type Atr,
  createAtr,
  createWindow,
  enter,
  FOUR_HOURS_MS,
  mean,
  push,
  settledAfter,
  updateAtr,
  type Window,
} from '../../../starter/template/strategies/highwater/indicators.ts'

const RULE = { fastBars: 50, slowBars: 200, atrBars: 20, stopAtrs: 3 }

type State = {
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
export function dualMovingAverage(id: string, rule: Partial<typeof RULE> = {}): Strategy<State> {
  const { fastBars, slowBars, atrBars, stopAtrs } = { ...RULE, ...rule }
  return {
    id,
    version: '1',
    timeframeMs: FOUR_HOURS_MS,
    baseRisk: 0.02,
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

export const strategy = dualMovingAverage('birch')
