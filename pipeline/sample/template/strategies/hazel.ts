// Synthetic sample: a textbook rule, untuned, on a market that never was.
import type { Strategy } from '#core/replay/strategy.ts'
import * as ta from '../../../starter/template/strategies/highwater/indicators.ts'

const RULE = { middleBars: 20, atrBars: 20, widthAtrs: 2 }

type State = { readonly middle: ta.Smoothed; readonly atr: ta.Atr }

/**
 * A breakout from Keltner's channel: enter when a close is more than `widthAtrs` average true ranges away
 * from the exponential average, and leave when a close is back on the other side of that average.
 *
 * The stop is the average itself, as it stands at the entry: a breakout that falls back to the middle that it
 * broke away from was none.
 */
export function volatilityBreakout(id: string, rule: Partial<typeof RULE> = {}): Strategy<State> {
  const { middleBars, atrBars, widthAtrs } = { ...RULE, ...rule }
  return {
    id,
    version: '1',
    timeframeMs: ta.FOUR_HOURS_MS,
    baseRisk: 0.02,
    warmupBars: Math.max(ta.settledAfter(middleBars), ta.settledAfter(atrBars)),

    init: () => ({ middle: ta.createEma(middleBars), atr: ta.createAtr(atrBars) }),

    onBar(state, bar, position) {
      const middle = ta.updateAverage(state.middle, bar.c)
      const atr = ta.updateAtr(state.atr, bar)
      if (middle === null || atr === null) return null

      const above = bar.c - middle
      if (position === null) {
        if (above > widthAtrs * atr) return ta.enter('long', bar.c, above)
        if (above < -widthAtrs * atr) return ta.enter('short', bar.c, -above)
        return null
      }
      const isOver = position.side === 'long' ? above < 0 : above > 0
      return isOver ? { act: 'flat', why: 'signal' } : null
    },
  }
}

export const strategy = volatilityBreakout('hazel')
