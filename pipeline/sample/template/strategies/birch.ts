// Synthetic sample: a textbook rule, untuned, on a market that never was.
import type { Strategy } from '#core/replay/strategy.ts'
import * as ta from '../../../starter/template/strategies/highwater/indicators.ts'

const RULE = { fastBars: 50, slowBars: 200, atrBars: 20, stopAtrs: 3 }

type State = {
  readonly fast: ta.Window
  readonly slow: ta.Window
  readonly atr: ta.Atr
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
    timeframeMs: ta.FOUR_HOURS_MS,
    baseRisk: 0.02,
    warmupBars: Math.max(slowBars, ta.settledAfter(atrBars)),

    init: () => ({
      fast: ta.createWindow(fastBars),
      slow: ta.createWindow(slowBars),
      atr: ta.createAtr(atrBars),
      above: null,
    }),

    onBar(state, bar) {
      ta.push(state.fast, bar.c)
      ta.push(state.slow, bar.c)
      const fast = ta.mean(state.fast)
      const slow = ta.mean(state.slow)
      const atr = ta.updateAtr(state.atr, bar)
      if (fast === null || slow === null || atr === null) return null

      const above = fast > slow
      const crossed = state.above !== null && above !== state.above
      state.above = above
      return crossed ? ta.enter(above ? 'long' : 'short', bar.c, stopAtrs * atr) : null
    },
  }
}

export const strategy = dualMovingAverage('birch')
