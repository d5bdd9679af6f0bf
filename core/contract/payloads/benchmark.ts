// The group `benchmark` of `fund_dd`: the strategy beside holding its instrument.
import { z } from 'zod'
import { convention, type NullRule, pct, ratioOrNull } from './figure-rule.ts'

const NONE = ['no_benchmark'] as const satisfies NullRule
const SHORT = ['no_benchmark', 'less_than_one_year'] as const satisfies NullRule
const FLAT = ['no_benchmark', 'too_few_points', 'zero_variance', 'ruin'] as const satisfies NullRule

export const benchmark = () =>
  z
    .looseObject({
      net_return_pct: pct('Net return of the benchmark.', '100 × (B_N - 1)', NONE),
      cagr_pct: pct('Compound annual growth rate of the benchmark.', '100 × (B_N^(365 / N) - 1)', SHORT),
      max_drawdown_pct: pct(
        'Deepest fall of the benchmark from a peak.',
        '100 × min(B_i / max(B_0 … B_(i-1)) - 1, 0)',
        NONE,
      ),
      sharpe_daily_annualized: ratioOrNull(
        'Sharpe ratio of the daily returns of the benchmark.',
        'mean(b) / sd(b) × √365',
        FLAT,
      ),
      volatility_annualized_pct: pct('Volatility of the benchmark.', '100 × sd(b) × √365', [
        'no_benchmark',
        'too_few_points',
        'ruin',
      ]),
      excess_return_pct: pct('Net return less that of the benchmark.', '100 × (E_N - B_N)', NONE),
      excess_cagr_pct: pct(
        'CAGR less that of the benchmark.',
        '100 × (E_N^(365 / N) - B_N^(365 / N))',
        SHORT,
      ),
      beta: ratioOrNull('Slope of daily returns on those of the benchmark.', 'cov(r, b) / var(b)', FLAT),
      alpha_annualized_pct: pct(
        'Mean daily return that beta does not explain, x 365.',
        '100 × 365 × (mean(r) - beta × mean(b))',
        FLAT,
      ),
      correlation: ratioOrNull(
        'Correlation of daily returns with those of the benchmark; 30 days or more.',
        'Pearson correlation of r with b',
        FLAT,
      ),
      up_capture_pct: pct(
        'Mean return of the months in which the benchmark rose, of the mean of the benchmark in them.',
        '100 × mean(m) / mean(c), where c > 0',
        ['no_benchmark', 'too_few_points', 'no_wins', 'ruin'],
      ),
      down_capture_pct: pct(
        'Mean return of the months in which the benchmark fell, of the mean of the benchmark in them.',
        '100 × mean(m) / mean(c), where c < 0',
        ['no_benchmark', 'too_few_points', 'no_losses', 'ruin'],
      ),
    })
    .describe('The strategy beside buying its instrument before the first day and holding it.')
    .meta(
      convention(
        'r: daily returns, b: those of the instrument on the same N days, both as published; E and B: equity compounded ' +
          'from 1 of each; m and c: complete months of both. The benchmark pays no costs and no funding. Risk-free rate 0, 365 ' +
          'days a year, sample deviation (n - 1). Sums of the months of the benchmark up to 1e-12 are none.',
      ),
    )
