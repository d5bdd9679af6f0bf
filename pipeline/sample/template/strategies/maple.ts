// Synthetic sample: a textbook rule, untuned, on a market that never was.
import type { Strategy } from '#core/replay/strategy.ts'
import * as ta from '../../../starter/template/strategies/highwater/indicators.ts'

const RULE = { lookbackBars: 180, rebalanceBars: 42, atrBars: 20, stopAtrs: 4 }

type State = { readonly closes: ta.Window; readonly atr: ta.Atr }

/**
 * Time-series momentum: once a week, long if the price is above that of a month ago, short if it is below.
 * The day of the rebalance is anchored to the calendar, not to a count of bars, so that it is the same
 * wherever the history begins and an outage does not move it.
 *
 * Between two rebalances nothing but the stop can end a trade, so it is wide: four average true ranges, a bad
 * week but not an unusual one.
 */
export function timeSeriesMomentum(id: string, rule: Partial<typeof RULE> = {}): Strategy<State> {
  const { lookbackBars, rebalanceBars, atrBars, stopAtrs } = { ...RULE, ...rule }
  return {
    id,
    version: '1',
    timeframeMs: ta.FOUR_HOURS_MS,
    baseRisk: 0.02,
    warmupBars: Math.max(lookbackBars, ta.settledAfter(atrBars)),

    init: () => ({ closes: ta.createWindow(lookbackBars), atr: ta.createAtr(atrBars) }),

    onBar(state, bar, position) {
      const before = ta.push(state.closes, bar.c)
      const atr = ta.updateAtr(state.atr, bar)
      const isRebalance = Math.floor(bar.t / ta.FOUR_HOURS_MS) % rebalanceBars === 0
      if (before === null || atr === null || !isRebalance || bar.c === before) return null

      const side = bar.c > before ? 'long' : 'short'
      return position?.side === side ? null : ta.enter(side, bar.c, stopAtrs * atr)
    },
  }
}

export const strategy = timeSeriesMomentum('maple', { lookbackBars: 540 })
