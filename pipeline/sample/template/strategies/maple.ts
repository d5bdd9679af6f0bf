// Synthetic sample: a textbook rule, untuned, on a market that never was.
import type { Strategy } from '#core/replay/strategy.ts'
import {
  type Atr,
  createAtr,
  createWindow,
  enter,
  FOUR_HOURS_MS,
  push,
  settledAfter,
  updateAtr,
  type Window,
} from '../../../starter/template/strategies/highwater/indicators.ts'

const RULE = { lookbackBars: 180, rebalanceBars: 42, atrBars: 20, stopAtrs: 4 }

type State = { readonly closes: Window; readonly atr: Atr }

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
    timeframeMs: FOUR_HOURS_MS,
    baseRisk: 0.02,
    warmupBars: Math.max(lookbackBars, settledAfter(atrBars)),

    init: () => ({ closes: createWindow(lookbackBars), atr: createAtr(atrBars) }),

    onBar(state, bar, position) {
      const before = push(state.closes, bar.c)
      const atr = updateAtr(state.atr, bar)
      const isRebalance = Math.floor(bar.t / FOUR_HOURS_MS) % rebalanceBars === 0
      if (before === null || atr === null || !isRebalance || bar.c === before) return null

      const side = bar.c > before ? 'long' : 'short'
      return position?.side === side ? null : enter(side, bar.c, stopAtrs * atr)
    },
  }
}

export const strategy = timeSeriesMomentum('maple', { lookbackBars: 540 })
