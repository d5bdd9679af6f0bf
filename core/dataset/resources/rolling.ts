import { FORMATS } from '#core/contract/parameters.ts'
import { isoDate, list, namedRecord, numberOrNull } from '#core/contract/payloads/field.ts'
import { convention, figureRule, type NullRule } from '#core/contract/payloads/figure-rule.ts'
import { accountPath } from '#core/figures/account-path.ts'
import { rollingFigures } from '#core/figures/rolling.ts'
import { dateColumn, figureColumn, type Table } from '../render/table.ts'
import { datasetRoute, strategyAtLevel } from './resource.ts'
import { compounded, noteAt, RISK_UNIT, seriesRiskMeta } from './risk-level.ts'

const ROWS =
  'Each row is of the 365 UTC days that end with its day: r are their returns, b those of the instrument, E the equity. A cell ' +
  'is null, and empty in CSV, if its figure does not exist: beta without a benchmark, the Sharpe ratio of a flat window, all but ' +
  'the return of a window with a ruin in it, and the return of one after it.'

const ROLLING_NOTE = `${ROWS} ${RISK_UNIT}`

const figure = (about: string, formula: string, nulls: NullRule) =>
  numberOrNull(`${about} 10 significant digits.`).meta(figureRule(formula, nulls))

export const rollingRows = () =>
  list(
    'One row for each day from the 365th on, ascending; none if the series is shorter.',
    namedRecord('RollingRow', {
      t: isoDate('Last UTC day of the window.'),
      return_pct: figure('Compounded return. Percent,', '100 × (E_i / E_(i-365) - 1)', ['ruin']),
      volatility_pct: figure('Annualised volatility. Percent,', '100 × sd(r) × √365', ['ruin']),
      sharpe: figure('Annualised Sharpe ratio,', 'mean(r) / sd(r) × √365', ['zero_variance', 'ruin']),
      beta: figure('Slope of the returns on those of the instrument,', 'cov(r, b) / var(b)', [
        ...(['no_benchmark', 'zero_variance', 'ruin'] as const),
      ]),
    }),
  ).meta(convention(`${ROWS} Risk-free rate 0, 365 days a year, sample deviation (n - 1).`))

export const rolling = datasetRoute({
  id: 'rolling',
  path: '/v1/strategies/{sid}/rolling',
  title: 'Rolling years',
  about: 'Return, volatility, Sharpe ratio and beta of every 365 consecutive days, at any risk level.',
  parameters: ['risk_pct'],
  formats: FORMATS,
  published: [],
  data: rollingRows,
  example: { path: '/v1/strategies/ash/rolling' },
  handler: (snapshot, params) => {
    const { strategy, level, factor } = strategyAtLevel(snapshot, params)
    const { daily, weekly, instrument, base_risk_pct } = strategy
    const benchmark = snapshot.benchmarks.find(each => each.instrument === instrument)?.daily ?? null
    const figures = compounded(strategy, level, () =>
      rollingFigures(accountPath(daily, weekly, factor), benchmark),
    )
    const { first, ...columns } = figures
    const rows = columns.return_pct.length
    const table: Table = {
      kind: 'table',
      rows,
      columns: [
        dateColumn('t', { period: 'daily', first }),
        ...Object.entries(columns).map(([name, values]) => figureColumn(name, values)),
      ],
      ...(rows === 0 ? {} : { extent: { first, last: first + rows - 1 } }),
    }
    return { table, meta: { ...seriesRiskMeta(level, base_risk_pct), note: noteAt(level, ROLLING_NOTE) } }
  },
})
