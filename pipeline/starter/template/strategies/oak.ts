// A strategy module: the file is named after the id in catalogue.yaml, and exports `strategy`.
//
// The engine calls `onBar` once for every closed bar, oldest first. What you return is done at the next bar's open:
//   { act: 'long', stop }       enter, or reverse a short; the stop is below the close
//   { act: 'short', stop }      the same for a short; the stop is above the close
//   { act: 'flat', why }        leave; `why` is 'signal' or 'time' and is published with the trade
//   null                        do nothing
// The size follows from the stop: if it is hit, the trade loses `baseRisk` of the account. There is no other order:
// a trailing stop is judged on the close and becomes a 'flat'.
//
// All memory is in `state`, which has to survive JSON: no NaN, no Map, no typed array. There is no history to look
// up, no clock and no account, so the same code can decide live.
import type { Strategy } from '#core/replay/strategy.ts'
import * as ta from './highwater/indicators.ts' // technical analysis

const TREND_BARS = 120 // 20 days of 4-hour bars
const ATR_BARS = 20
const STOP_ATRS = 3

type State = { readonly trend: ta.Window; readonly atr: ta.Atr; side: 'above' | 'below' | null }

/** Goes with the price when it crosses its own average, and leaves when it crosses back. */
export const strategy: Strategy<State> = {
  id: 'oak',
  version: '1', // raise it whenever the rules change: a new version is a new history
  timeframeMs: ta.FOUR_HOURS_MS, // `timeframe: 4h` in the catalogue
  baseRisk: 0.02, // `base_risk_pct: 0.02` in the catalogue
  warmupBars: Math.max(TREND_BARS, ta.settledAfter(ATR_BARS)),

  init: () => ({ trend: ta.createWindow(TREND_BARS), atr: ta.createAtr(ATR_BARS), side: null }),

  onBar(state, bar, position) {
    ta.push(state.trend, bar.c)
    const trend = ta.mean(state.trend)
    const atr = ta.updateAtr(state.atr, bar)
    if (trend === null || atr === null) return null

    const before = state.side
    state.side = bar.c > trend ? 'above' : 'below'
    if (before === null || state.side === before) return null
    if (position !== null) return { act: 'flat', why: 'signal' }
    return ta.enter(state.side === 'above' ? 'long' : 'short', bar.c, STOP_ATRS * atr)
  },
}
