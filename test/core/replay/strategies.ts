import type { Strategy } from '#core/replay/strategy.ts'
import { donchianBreakout } from '#pipeline/sample/template/strategies/alder.ts'
import { dualMovingAverage } from '#pipeline/sample/template/strategies/birch.ts'
import { rsiReversion } from '#pipeline/sample/template/strategies/cedar.ts'
import { volatilityBreakout } from '#pipeline/sample/template/strategies/hazel.ts'
import { atrTrend } from '#pipeline/sample/template/strategies/larch.ts'
import { timeSeriesMomentum } from '#pipeline/sample/template/strategies/maple.ts'

/** The six reference strategies by the name of their file. */
export const REFERENCE: readonly (readonly [name: string, strategy: Strategy<unknown>])[] = [
  ['donchian-breakout', unknownState(donchianBreakout('alder'))],
  ['dual-moving-average', unknownState(dualMovingAverage('birch'))],
  ['rsi-reversion', unknownState(rsiReversion('cedar'))],
  ['volatility-breakout', unknownState(volatilityBreakout('elm'))],
  ['atr-trend', unknownState(atrTrend('fir'))],
  ['time-series-momentum', unknownState(timeSeriesMomentum('hazel'))],
]

// A list holds strategies with different states; the engine hands each its own.
function unknownState<State>(strategy: Strategy<State>): Strategy<unknown> {
  return strategy as Strategy<unknown>
}
