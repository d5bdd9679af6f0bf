// The group `benchmark` of `fund_dd`: the strategy beside holding its instrument.
import { record } from './field.ts'
import { convention, FLAT, holding, type NullRule, pct, ratioOrNull, TOO_FEW } from './figure-rule.ts'

const NONE: NullRule = ['no_benchmark']
const MONTHLY: NullRule = [...NONE, ...TOO_FEW]

const compared = (about: string, formula: string) => ratioOrNull(about, formula, [...NONE, ...FLAT])

export const benchmark = () =>
  record('The strategy beside buying its instrument before the first day and holding it.', {
    ...holding('the benchmark', ['B', 'b', 'N'], NONE),
    excess_return_pct: pct('Net return less that of the benchmark.', '100 × (E_N - B_N)', NONE),
    excess_cagr_pct: pct('CAGR less that of the benchmark.', '100 × (E_N^(365 / N) - B_N^(365 / N))', [
      ...NONE,
      'less_than_one_year',
    ]),
    beta: compared('Slope of daily returns on those of the benchmark.', 'cov(r, b) / var(b)'),
    alpha_annualized_pct: compared(
      'Mean daily return that beta does not explain, x 365; 90 days or more. Percent.',
      '100 × 365 × (mean(r) - beta × mean(b))',
    ),
    correlation: compared(
      'Correlation of daily returns with those of the benchmark; 30 days or more.',
      'Pearson correlation of r with b',
    ),
    up_capture_pct: pct(
      'Mean return of the months in which the benchmark rose, of the mean of the benchmark in them.',
      '100 × mean(m) / mean(c), where c > 0',
      [...MONTHLY, 'no_wins'],
    ),
    down_capture_pct: pct(
      'Mean return of the months in which the benchmark fell, of the mean of the benchmark in them.',
      '100 × mean(m) / mean(c), where c < 0',
      [...MONTHLY, 'no_losses'],
    ),
  }).meta(
    convention(
      'r: daily returns, b: those of the instrument on the same N days, both as published; E and B: equity compounded ' +
        'from 1 of each; m and c: complete months of both. The benchmark pays no costs and no funding. Risk-free rate 0, 365 ' +
        'days a year, sample deviation (n - 1). Sums of the months of the benchmark up to 1e-12 are none.',
    ),
  )
