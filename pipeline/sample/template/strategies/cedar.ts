// Synthetic sample: a textbook rule, untuned, on a market that never was.
import type { Strategy } from '#core/replay/strategy.ts'
import * as ta from '../../../starter/template/strategies/highwater/indicators.ts'

const RULE = {
  rsiBars: 2,
  trendBars: 200,
  exitBars: 5,
  oversold: 10,
  longestBars: 30,
  atrBars: 20,
  stopAtrs: 3,
}

type State = {
  readonly rsi: ta.Rsi
  readonly trend: ta.Window
  readonly exit: ta.Window
  readonly atr: ta.Atr
}

/**
 * Connors' RSI(2): buy a sharp dip in an uptrend and sell a sharp rally in a downtrend, the trend being the
 * side of the long average on which the price is. Leave when a close comes back to the short average, or
 * after `longestBars` because a reversion that takes so long is none.
 *
 * The original has no stop, and a dip is meant to go on for a while. Three average true ranges leave it the
 * room, and still give each trade a size.
 */
export function rsiReversion(id: string, rule: Partial<typeof RULE> = {}): Strategy<State> {
  const { rsiBars, trendBars, exitBars, oversold, longestBars, atrBars, stopAtrs } = { ...RULE, ...rule }
  return {
    id,
    version: '1',
    timeframeMs: ta.FOUR_HOURS_MS,
    baseRisk: 0.02,
    warmupBars: Math.max(trendBars, exitBars, ta.settledAfter(rsiBars), ta.settledAfter(atrBars)),

    init: () => ({
      rsi: ta.createRsi(rsiBars),
      trend: ta.createWindow(trendBars),
      exit: ta.createWindow(exitBars),
      atr: ta.createAtr(atrBars),
    }),

    onBar(state, bar, position) {
      ta.push(state.trend, bar.c)
      ta.push(state.exit, bar.c)
      const trend = ta.mean(state.trend)
      const exit = ta.mean(state.exit)
      const rsi = ta.updateRsi(state.rsi, bar.c)
      const atr = ta.updateAtr(state.atr, bar)
      if (trend === null || exit === null || rsi === null || atr === null) return null

      if (position === null) {
        if (bar.c > trend && rsi < oversold) return ta.enter('long', bar.c, stopAtrs * atr)
        if (bar.c < trend && rsi > 100 - oversold) return ta.enter('short', bar.c, stopAtrs * atr)
        return null
      }
      const isBack = position.side === 'long' ? bar.c > exit : bar.c < exit
      if (isBack) return { act: 'flat', why: 'signal' }
      const isOld = bar.t - position.entry_time >= longestBars * ta.FOUR_HOURS_MS
      return isOld ? { act: 'flat', why: 'time' } : null
    },
  }
}

export const strategy = rsiReversion('cedar')
