import { statsData } from '#core/contract/payloads/stats.ts'
import { toPercent, toSignificant } from '#core/contract/rounding.ts'
import { type FigureBlock, splitFigures } from '#core/figures/figure.ts'
import { performanceFigures } from '#core/figures/performance.ts'
import type { StrategyData } from '../snapshot.ts'
import { publishFigures } from './figures-on-the-wire.ts'
import { datasetRoute, strategyAtLevel } from './resource.ts'
import { compounded, noteAt, RISK_UNIT, type RiskLevel, riskFactor, seriesRiskMeta } from './risk-level.ts'

const STATS_NOTE = `fund_dd is always at base risk. At another risk level net return, CAGR, drawdown and time under water come from the recompounded curve, so that they agree with each other and with its last point. ${RISK_UNIT}`

const TIME_UNDERWATER_FOOTNOTE =
  'Counts the days whose equity is strictly below the highest equity before them; the opening equity of 1.0 is a peak.'

/** `/v1/strategies/{sid}/stats`: statistics at any risk level; `fund_dd` and trade figures at base risk. */
export const stats = datasetRoute({
  id: 'stats',
  path: '/v1/strategies/{sid}/stats',
  title: 'Statistics',
  about: 'The statistics of a strategy at any risk level, and the due diligence block at base risk.',
  parameters: ['risk_pct'],
  data: statsData,
  handler: (snapshot, params) => {
    const { strategy, level } = strategyAtLevel(snapshot, params)
    const block = level === null ? strategy.figures : rescaledBlock(strategy, level)
    const { fund_dd, ...top } = publishFigures(block.values)
    const { risk_pct: _, ...levels } = seriesRiskMeta(level, strategy.base_risk_pct)
    return {
      data: {
        ccy: strategy.ccy,
        ...top,
        win_rate_pct: top.win_rate_pct ?? 0, // the specification promises a number; `undefined` gives the reason for the 0
        ...leverageAt(strategy, level),
        undefined: block.undefined,
        ...(fund_dd === undefined ? {} : { fund_dd }),
      },
      meta: {
        ...levels,
        time_underwater_footnote: TIME_UNDERWATER_FOOTNOTE,
        note: noteAt(level, STATS_NOTE),
      },
    }
  },
})

/** What a rescale implies for the leverage, which is proportional to the risk level. */
function leverageAt(strategy: StrategyData, level: RiskLevel | null) {
  const { leverage_max, refused_above_risk_pct, base_risk_pct } = strategy
  return {
    leverage_max: leverage_max === null ? null : toPercent(leverage_max * riskFactor(level, base_risk_pct)),
    refused_above_risk_pct: refused_above_risk_pct === null ? null : toSignificant(refused_above_risk_pct),
  }
}

/** The stored block with everything that comes from the series computed again. */
function rescaledBlock(strategy: StrategyData, level: RiskLevel): FigureBlock {
  const { figures, daily, weekly, base_risk_pct } = strategy
  const factor = riskFactor(level, base_risk_pct)
  const series = splitFigures(compounded(strategy, level, () => performanceFigures(daily, weekly, factor)))
  const unchanged = Object.entries(figures.undefined).filter(([path]) => !(path in series.values))
  return {
    values: { ...figures.values, ...series.values },
    undefined: { ...series.undefined, ...Object.fromEntries(unchanged) },
  }
}
