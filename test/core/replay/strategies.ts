import type { Strategy } from '#core/replay/strategy.ts'
import { donchianBreakout } from '#pipeline/sample/template/strategies/alder.ts'
import { dualMovingAverage } from '#pipeline/sample/template/strategies/birch.ts'
import { rsiReversion } from '#pipeline/sample/template/strategies/cedar.ts'
import { volatilityBreakout } from '#pipeline/sample/template/strategies/hazel.ts'
import { atrTrend } from '#pipeline/sample/template/strategies/larch.ts'
import { timeSeriesMomentum } from '#pipeline/sample/template/strategies/maple.ts'

/** The six reference strategies by the name of their file. */
export const REFERENCE: readonly (readonly [name: string, strategy: Strategy])[] = [
  ['donchian-breakout', donchianBreakout('alder')],
  ['dual-moving-average', dualMovingAverage('birch')],
  ['rsi-reversion', rsiReversion('cedar')],
  ['volatility-breakout', volatilityBreakout('elm')],
  ['atr-trend', atrTrend('fir')],
  ['time-series-momentum', timeSeriesMomentum('hazel')],
]
