import { FORMATS } from '#core/contract/parameters.ts'
import { isoDate, list, namedRecord, numberOrNull } from '#core/contract/payloads/field.ts'
import { figureRule, type NullRule } from '#core/contract/payloads/figure-rule.ts'
import { dailyPath } from '#core/figures/account-path.ts'
import { rollingFigures } from '#core/figures/rolling.ts'
import { dateColumn, figureColumn } from '../render/table.ts'
import { atLevel, datasetRoute } from './resource.ts'
import { RISK_UNIT } from './risk-level.ts'

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
  ).meta({ 'x-convention': `${ROWS} Risk-free rate 0, 365 days a year, sample deviation (n - 1).` })

export const rolling = datasetRoute({
  id: 'rolling',
  path: '/v1/strategies/{sid}/rolling',
  title: 'Rolling years',
  about: 'Return, volatility, Sharpe ratio and beta of every 365 consecutive days, at any risk level.',
  parameters: ['risk_pct'],
  formats: FORMATS,
  published: [],
  data: rollingRows,
  handler: atLevel(ROLLING_NOTE, ({ strategy: { daily, instrument }, factor }, { benchmarks }) => {
    const benchmark = benchmarks.find(each => each.instrument === instrument)?.daily ?? null
    const { first, ...figures } = rollingFigures(dailyPath(daily, factor), benchmark)
    const columns = [
      dateColumn('t', { period: 'daily', first }),
      ...Object.entries(figures).map(([name, values]) => figureColumn(name, values)),
    ]
    return { table: { kind: 'table', rows: figures.return_pct.length, columns }, meta: {} }
  }),
})
