// Synthetic sample: a textbook rule, untuned, on a market that never was.
import type { Strategy } from '#core/replay/strategy.ts'
import * as ta from '../../../starter/template/strategies/highwater/indicators.ts'

const RULE = { entryBars: 55, exitBars: 20, atrBars: 20, stopAtrs: 2 }

type State = { readonly entry: ta.Channel; readonly exit: ta.Channel; readonly atr: ta.Atr }

/**
 * Donchian's channel breakout, as the Turtles traded it: enter when a close leaves the range of the last
 * `entryBars` bars, and leave when a close falls back out of the shorter range of the last `exitBars` bars.
 *
 * The stop is two average true ranges from the close: the noise of an ordinary bar does not reach it, and a
 * breakout that gives two whole ranges back has failed.
 */
export function donchianBreakout(id: string, rule: Partial<typeof RULE> = {}): Strategy<State> {
  const { entryBars, exitBars, atrBars, stopAtrs } = { ...RULE, ...rule }
  return {
    id,
    version: '1',
    timeframeMs: ta.FOUR_HOURS_MS,
    baseRisk: 0.02,
    warmupBars: Math.max(entryBars, exitBars, ta.settledAfter(atrBars)),

    init: () => ({
      entry: ta.createChannel(entryBars),
      exit: ta.createChannel(exitBars),
      atr: ta.createAtr(atrBars),
    }),

    onBar(state, bar, position) {
      const entry = ta.updateChannel(state.entry, bar)
      const exit = ta.updateChannel(state.exit, bar)
      const atr = ta.updateAtr(state.atr, bar)
      if (entry === null || exit === null || atr === null) return null

      if (position === null) {
        if (bar.c > entry.high) return ta.enter('long', bar.c, stopAtrs * atr)
        if (bar.c < entry.low) return ta.enter('short', bar.c, stopAtrs * atr)
        return null
      }
      const isOver = position.side === 'long' ? bar.c < exit.low : bar.c > exit.high
      return isOver ? { act: 'flat', why: 'signal' } : null
    },
  }
}

export const strategy = donchianBreakout('alder')
