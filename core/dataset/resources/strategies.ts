import { z } from 'zod'
import { FORMATS } from '#core/contract/parameters.ts'
import {
  dateWindow,
  isoDate,
  list,
  number,
  numberOrNull,
  percent,
  ratio,
  record,
  recordOrNull,
  records,
  text,
  textOrNull,
  whole,
  word,
} from '#core/contract/payloads/field.ts'
import { notRecomputable } from '#core/contract/payloads/figure-rule.ts'
import { FUNDING_ASSUMPTIONS, measuredFields, strategyIdentity } from '#core/contract/payloads/strategy.ts'
import { toPercent } from '#core/contract/rounding.ts'
import { MODULE_VERSION } from '#core/replay/strategy.ts'
import { declarationsOf } from '../lineage.ts'
import { numberColumn, type Table, textColumn } from '../render/table.ts'
import { basisOf, type StrategyRecord } from '../snapshot.ts'
import { publishFigures } from './figures-on-the-wire.ts'
import { datasetRoute, findStrategy, pick } from './resource.ts'

const strategyListItem = () =>
  record('A strategy in the catalogue.', {
    ...strategyIdentity(),
    headline: record('The five figures of a list, at base risk.', {
      cagr_pct: percent('Compound annual growth rate.').nullable(),
      max_drawdown_pct: percent('Deepest fall from a peak, negative.'),
      sharpe_daily_annualized: ratio(
        'Sharpe ratio of daily returns, annualised by the square root of 365; 90 days or more.',
      ).nullable(),
      profit_factor: notRecomputable(
        'leverage',
        numberOrNull('Gains / losses of the closed trades on account equity. 6 decimals.'),
      ),
      trade_count: whole('Closed trades.'),
    }),
  }).meta({ id: 'StrategyListItem' })

export const strategyList = () =>
  list('All strategies, in catalogue order, those that are over last.', strategyListItem())

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

/** The columns of the list as a table: the headline figures stand beside the other fields. */
const LIST_COLUMNS = {
  ...{ id: 'text', name: 'text', blurb: 'text', tv_status: 'text', basis: 'text', instrument: 'text' },
  ...{ base_risk_pct: 'number', leverage_typical: 'number', leverage_max: 'number' },
  ...{ published_since: 'text', ended_on: 'text', ended_reason: 'text', idle_since: 'text' },
  ...{ verification_state: 'text' },
  ...{ cagr_pct: 'number', max_drawdown_pct: 'number', sharpe_daily_annualized: 'number' },
  ...{ profit_factor: 'number', trade_count: 'number' },
} as const

function listTable(strategies: readonly StrategyRecord[]): Table {
  const items: Readonly<Record<string, unknown>>[] = strategies.map(strategy => ({
    ...identity(strategy),
    ...headline(strategy),
  }))
  const columns = Object.entries(LIST_COLUMNS).map(([name, kind]) => ({
    ...(kind === 'number'
      ? numberColumn(name, row => Number(items[row]![name]))
      : textColumn(name, row => String(items[row]![name]))),
    has: (row: number) => items[row]![name] !== null,
  }))
  return { kind: 'table', rows: items.length, columns }
}

/** The fields that the list and the metadata of a strategy share. */
export const identity = (strategy: StrategyRecord) => ({
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

const HEADLINE = ['cagr_pct', 'max_drawdown_pct', 'sharpe_daily_annualized', 'profit_factor', 'trade_count']

const headline = ({ figures }: StrategyRecord) =>
  publishFigures(Object.fromEntries(HEADLINE.map(name => [name, figures.values[name] ?? null])))

const roundOrNull = (value: number | null): number | null => (value === null ? null : toPercent(value))

export const strategyMetadata = () =>
  record('Everything about a strategy but its figures.', {
    ...strategyIdentity(),
    window: dateWindow('First and last day of the published series.'),
    engine: text('What computed the history.'),
    data_source: text('Where the prices come from.'),
    denomination: text('Settlement currency.'),
    inception: isoDate('The day on which the series begins.'),
    methodology_url: text('Where the method is described.'),
    backtest_assumptions: record('The costs in every figure.', {
      commission_bps_per_side: number('Commission of each fill, basis points of notional.'),
      slippage_ticks: number('Slippage of each fill, ticks of the instrument, always against the account.'),
      tick_size: number('One tick, in the quote currency.'),
      funding: z
        .enum(FUNDING_ASSUMPTIONS)
        .nullable()
        .describe(
          '`historical`: each payment of the instrument is charged at the last close known at its instant, as far as ' +
            '`/v1/dataset` says; `none`: the operator states that the instrument has none; `as_reported`: whatever ' +
            'the maker of the returns charged, or of a ledger without payments of its instrument. Null in versions of ' +
            'older builds.',
        ),
      result_tolerance_bps: numberOrNull(
        'Of a ledger: by how much a given result may differ from its recomputation, and a reported day from the ledger ' +
          'beside it. Basis points of equity; null for other histories.',
      ),
    }),
    module_version: z
      .string()
      .regex(MODULE_VERSION)
      .nullable()
      .describe(
        'Version of the strategy module: 1 to 32 letters, digits or `.`, `_`, `+`, `-`. A new one means other rules, so it ' +
          'is a restatement. Null for a ledger and for reported returns.',
      ),
    rules_sha256: textOrNull(
      'SHA-256 of what `sha256sum` prints for the module and all that it imports, sorted by path. Null without a module, ' +
        'and in versions of older builds.',
    ),
    rules_since: textOrNull(
      'Since when rules that are the same, or declared so, are published; never later than `published_since`. Null ' +
        'without a module, and in versions of older builds.',
    ),
    rules_declared_same: records(
      'Each time that the files of the module changed while its version did not.',
      {
        at: text('UTC instant of the version with other files of the module.'),
        reason: text('Why the rules are the same, as the operator states it.'),
      },
    ),
    marking: word(
      'How the daily returns came about: open trades marked at every close; booked whole on the day of the exit, ' +
        'where the leverage is unknown; or reported by the maker of the history.',
      ['marked', 'realised', 'reported'],
    ),
    measured: recordOrNull(
      'What the build measured of the trades; null in versions of older builds. Null without such a trade.',
      measuredFields(),
    ),
    days_without_bars: whole(
      'Days of the window without any price; their return is 0 and caught up on the next day.',
    ),
  }).meta({ id: 'Strategy' })

export const strategy = datasetRoute({
  id: 'strategy',
  path: '/v1/strategies/{sid}',
  title: 'Strategy',
  about: 'Everything about a strategy but its figures.',
  data: strategyMetadata,
  example: { path: '/v1/strategies/ash' },
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
