import { riskData } from '#core/contract/payloads/risk.ts'
import { splitFigures } from '#core/figures/figure.ts'
import { type RiskInput, riskFigures } from '#core/figures/risk-profile.ts'
import { type Snapshot, type StrategyData, wordAt } from '../snapshot.ts'
import { publishFigures } from './figures-on-the-wire.ts'
import { atLevel, datasetRoute } from './resource.ts'
import { RISK_UNIT } from './risk-level.ts'

const RISK_NOTE = `year_ahead is drawn from the days of the record and is no forecast; days that are not in it, it does not know. ${RISK_UNIT}`

export const risk = datasetRoute({
  id: 'risk',
  path: '/v1/strategies/{sid}/risk',
  title: 'Risk',
  about:
    'A year drawn from the record, results by start date, the distribution of days, exposure through time and periods of stress, at ' +
    'any risk level.',
  parameters: ['risk_pct'],
  data: riskData,
  handler: atLevel(RISK_NOTE, ({ strategy, factor: k }, snapshot) => {
    const block = splitFigures(riskFigures({ ...riskInput(snapshot, strategy), k }))
    return { data: { ...publishFigures(block.values), undefined: block.undefined }, meta: {} }
  }),
})

/** What `riskFigures` reads of a strategy, beside the factor. */
export function riskInput(
  { dataset, benchmarks }: Pick<Snapshot, 'dataset' | 'benchmarks'>,
  strategy: StrategyData,
): Omit<RiskInput, 'k'> {
  const { daily, instrument } = strategy
  return {
    daily,
    benchmark: benchmarks.find(each => each.instrument === instrument)?.daily ?? null,
    trades: positionsOf(strategy),
    open_since: openSince(strategy),
    stress_periods: dataset.stress_periods,
  }
}

export const positionsOf = ({ trades: { side, entry_time, exit_time } }: Pick<StrategyData, 'trades'>) =>
  Array.from(entry_time, (entry_time, row) => ({
    ...{ side: wordAt(side, row), entry_time, exit_time: exit_time[row]! },
  }))

/** The day since which a position is open at the end of the history, ISO; null if none is, or it is not recorded. */
export function openSince({ figures }: StrategyData): string | null {
  const { fund_dd } = figures.values as { fund_dd?: { exposure?: { open_since: string | null } } } // see `exposureFigures`
  return fund_dd?.exposure?.open_since ?? null
}
