// Synthetic sample: a textbook rule, untuned, on a market that never was.
import type { Bar, Position, Strategy } from '#core/replay/strategy.ts'
import * as ta from '../../../starter/template/strategies/highwater/indicators.ts'

const RULE = { trendBars: 100, atrBars: 22, trailAtrs: 3 }

type State = {
  readonly trend: ta.Smoothed
  readonly atr: ta.Atr
  /** Whether the last close was above the average; null before there was one. */
  above: boolean | null
  /**
   * The best price since the entry, from which the trail hangs: the highest high of a long, the lowest low of
   * a short.
   */
  best: number | null
}

/**
 * A trend follower with a chandelier trail: enter when a close crosses the exponential average, and leave
 * when a close is more than `trailAtrs` average true ranges away from the best price since the entry.
 *
 * The trail is judged on the close alone, so the path inside a bar never matters. The stop is the place where
 * the trail begins, `trailAtrs` from the close; it stays there and ends the trade inside a bar only when the
 * trail is too late.
 */
export function atrTrend(id: string, rule: Partial<typeof RULE> = {}): Strategy<State> {
  const { trendBars, atrBars, trailAtrs } = { ...RULE, ...rule }
  return {
    id,
    version: '1',
    timeframeMs: ta.FOUR_HOURS_MS,
    baseRisk: 0.02,
    warmupBars: Math.max(ta.settledAfter(trendBars), ta.settledAfter(atrBars)),

    init: () => ({ trend: ta.createEma(trendBars), atr: ta.createAtr(atrBars), above: null, best: null }),

    onBar(state, bar, position) {
      const trend = ta.updateAverage(state.trend, bar.c)
      const atr = ta.updateAtr(state.atr, bar)
      state.best = position === null ? null : bestSinceEntry(state.best, bar, position)
      if (trend === null || atr === null) return null

      const above = bar.c > trend
      const crossed = state.above !== null && above !== state.above
      state.above = above
      if (crossed) return ta.enter(above ? 'long' : 'short', bar.c, trailAtrs * atr)
      if (position === null || state.best === null) return null
      return Math.abs(state.best - bar.c) > trailAtrs * atr ? { act: 'flat', why: 'signal' } : null
    },
  }
}

// A reversal goes from one position to the next without a bar between them: the entry bar is always set again.
function bestSinceEntry(best: number | null, bar: Bar, { side, entry_time }: Position): number {
  const reached = side === 'long' ? bar.h : bar.l
  if (best === null || entry_time === bar.t) return reached
  return side === 'long' ? Math.max(best, reached) : Math.min(best, reached)
}

export const strategy = atrTrend('larch')
