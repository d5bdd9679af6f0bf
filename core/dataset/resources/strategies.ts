import { FORMATS } from '#core/contract/parameters.ts'
import { datasetData } from '#core/contract/payloads/dataset.ts'
import { strategyIdentity, strategyList, strategyMetadata } from '#core/contract/payloads/strategy.ts'
import { toPercent } from '#core/contract/rounding.ts'
import { effectiveInstant } from '../entered.ts'
import { declarationsOf } from '../lineage.ts'
import { numberColumn, type Table, textColumn } from '../render/table.ts'
import { basisOf, type StrategyRecord } from '../snapshot.ts'
import { publishFigures } from './figures-on-the-wire.ts'
import { datasetRoute, findStrategy, pick } from './resource.ts'

export const strategies = datasetRoute({
  id: 'strategies',
  path: '/v1/strategies',
  title: 'Catalogue',
  about:
    'All strategies with five headline figures each, in catalogue order, those that are over last; other formats than JSON have these as columns of their own.',
  formats: FORMATS,
  published: ['json'],
  data: strategyList,
  handler: (snapshot, { format }) => ({
    data: snapshot.strategies.map(strategy => ({ ...identity(strategy), headline: headline(strategy) })),
    ...(format === 'json' ? {} : { table: listTable(snapshot.strategies) }),
    meta: { count: snapshot.strategies.length },
  }),
})

const HEADLINE = ['cagr_pct', 'max_drawdown_pct', 'sharpe_daily_annualized', 'profit_factor', 'trade_count']

const NUMBERS = ['base_risk_pct', 'leverage_typical', 'leverage_max', ...HEADLINE]

/** The list as a table: the headline figures stand beside the other fields. */
function listTable(strategies: readonly StrategyRecord[]): Table {
  const items: Readonly<Record<string, unknown>>[] = strategies.map(strategy => ({
    ...identity(strategy),
    ...headline(strategy),
  }))
  const columns = [...Object.keys(strategyIdentity()), ...HEADLINE].map(name => ({
    ...(NUMBERS.includes(name)
      ? numberColumn(name, row => Number(items[row]![name]))
      : textColumn(name, row => String(items[row]![name]))),
    has: (row: number) => items[row]![name] !== null,
  }))
  return { kind: 'table', rows: items.length, columns }
}

const identity = (strategy: StrategyRecord) => ({
  ...pick(strategy, 'id', 'name', 'blurb', 'tv_status'),
  basis: basisOf(strategy),
  ...pick(strategy, 'instrument', 'base_risk_pct'),
  leverage_typical: roundOrNull(strategy.leverage_typical),
  leverage_max: roundOrNull(strategy.leverage_max),
  published_since: strategy.published_since,
  ended_on: strategy.ended?.on ?? null,
  ended_reason: strategy.ended?.reason ?? null,
  ...pick(strategy, 'idle_since', 'verification_state'),
})

const headline = ({ figures }: StrategyRecord) =>
  publishFigures(Object.fromEntries(HEADLINE.map(name => [name, figures.values[name] ?? null])))

const roundOrNull = (value: number | null): number | null => (value === null ? null : toPercent(value))

export const strategy = datasetRoute({
  id: 'strategy',
  path: '/v1/strategies/{sid}',
  title: 'Strategy',
  about: 'Everything about a strategy but its figures.',
  data: strategyMetadata,
  handler: (snapshot, params) => {
    const record = findStrategy(snapshot, params.sid)
    return {
      data: {
        ...identity(record),
        ...pick(record, 'window', 'engine', 'data_source', 'denomination', 'inception', 'methodology_url'),
        backtest_assumptions: pick(
          record,
          'commission_bps_per_side',
          'slippage_ticks',
          'tick_size',
          'funding',
          'result_tolerance_bps',
        ),
        ...pick(record, 'module_version', 'rules_sha256', 'rules_since'),
        rules_declared_same: declarationsOf(snapshot.dataset, 'same_rules', record.id),
        ...pick(record, 'marking', 'measured', 'days_without_bars'),
      },
      meta: {},
    }
  },
})

export const dataset = datasetRoute({
  id: 'dataset',
  path: '/v1/dataset',
  title: 'Dataset',
  about: 'What the dataset is made of and which version it is.',
  isRiskFree: true,
  data: datasetData,
  handler: ({ dataset, strategies }) => ({
    data: {
      version: dataset.version,
      generated_utc: effectiveInstant(dataset),
      ...pick(dataset, 'entered', 'history_restated', 'name', 'window'),
      strategy_count: strategies.length,
      ...pick(dataset, 'engine', 'data_source', 'methodology_url', 'embargo_days', 'funding'),
      ...pick(dataset, 'accepted_findings', 'stress_periods', 'removed'),
      strategies: strategies.map(strategy => ({
        ...pick(strategy, 'id', 'name'),
        basis: basisOf(strategy),
        verification_state: strategy.verification_state,
      })),
    },
    meta: {},
  }),
})
