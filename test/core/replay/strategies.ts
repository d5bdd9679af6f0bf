import { atrTrend } from '#core/replay/reference/atr-trend.ts'
import { donchianBreakout } from '#core/replay/reference/donchian-breakout.ts'
import { dualMovingAverage } from '#core/replay/reference/dual-moving-average.ts'
import { rsiReversion } from '#core/replay/reference/rsi-reversion.ts'
import { timeSeriesMomentum } from '#core/replay/reference/time-series-momentum.ts'
import { volatilityBreakout } from '#core/replay/reference/volatility-breakout.ts'
import type { Strategy } from '#core/replay/strategy.ts'

/** The six reference strategies by the name of their file. */
export const REFERENCE: readonly (readonly [name: string, strategy: Strategy<unknown>])[] = [
  ['donchian-breakout', unknownState(donchianBreakout({ id: 'alder' }))],
  ['dual-moving-average', unknownState(dualMovingAverage({ id: 'birch' }))],
  ['rsi-reversion', unknownState(rsiReversion({ id: 'cedar' }))],
  ['volatility-breakout', unknownState(volatilityBreakout({ id: 'elm' }))],
  ['atr-trend', unknownState(atrTrend({ id: 'fir' }))],
  ['time-series-momentum', unknownState(timeSeriesMomentum({ id: 'hazel' }))],
]

// A list holds strategies with different states; the engine hands each its own.
function unknownState<State>(strategy: Strategy<State>): Strategy<unknown> {
  return strategy as Strategy<unknown>
}
