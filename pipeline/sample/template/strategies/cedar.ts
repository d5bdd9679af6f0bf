// Synthetic sample: a textbook rule, untuned, on a market that never was.
import type { Strategy } from '#core/replay/strategy.ts'
import {
  type Atr,
  createAtr,
  createRsi,
  createWindow,
  enter,
  FOUR_HOURS_MS,
  mean,
  push,
  type Rsi,
  settledAfter,
  updateAtr,
  updateRsi,
  type Window,
} from '../../../starter/template/strategies/highwater/indicators.ts'

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
  readonly rsi: Rsi
  readonly trend: Window
  readonly exit: Window
  readonly atr: Atr
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
    timeframeMs: FOUR_HOURS_MS,
    baseRisk: 0.02,
    warmupBars: Math.max(trendBars, exitBars, settledAfter(rsiBars), settledAfter(atrBars)),

    init: () => ({
      rsi: createRsi(rsiBars),
      trend: createWindow(trendBars),
      exit: createWindow(exitBars),
      atr: createAtr(atrBars),
    }),

    onBar(state, bar, position) {
      push(state.trend, bar.c)
      push(state.exit, bar.c)
      const trend = mean(state.trend)
      const exit = mean(state.exit)
      const rsi = updateRsi(state.rsi, bar.c)
      const atr = updateAtr(state.atr, bar)
      if (trend === null || exit === null || rsi === null || atr === null) return null

      if (position === null) {
        if (bar.c > trend && rsi < oversold) return enter('long', bar.c, stopAtrs * atr)
        if (bar.c < trend && rsi > 100 - oversold) return enter('short', bar.c, stopAtrs * atr)
        return null
      }
      const isBack = position.side === 'long' ? bar.c > exit : bar.c < exit
      if (isBack) return { act: 'flat', why: 'signal' }
      const isOld = bar.t - position.entry_time >= longestBars * FOUR_HOURS_MS
      return isOld ? { act: 'flat', why: 'time' } : null
    },
  }
}

export const strategy = rsiReversion('cedar')
