// The group `risk_adjusted` of `fund_dd`.
import { z } from 'zod'
import { convention } from './figure-rule.ts'
import { FLAT, PAINLESS, pct, ratioOrNull, TOO_FEW } from './fund-dd-units.ts'

const PER_DRAWDOWN = ['less_than_one_year', 'no_drawdown', 'ruin'] as const
const V = 'v = 1 - skewness × S + (excess kurtosis + 2) / 4 × S², S = mean(r) / sd(r)'

export const riskAdjusted = z
  .looseObject({
    volatility_annualized_pct: pct(
      'Sample deviation of daily returns x the square root of 365.',
      '100 × sd(r) × √365',
      TOO_FEW,
    ),
    downside_deviation_annualized_pct: pct(
      'Root mean square of the negative daily returns over all days x the square root of 365.',
      '100 × √mean(min(r, 0)²) × √365',
      TOO_FEW,
    ),
    sharpe_std_error: ratioOrNull(
      'Standard error of the annualised daily Sharpe ratio, given skew and kurtosis.',
      `√(v / (N - 1)) × √365, ${V}`,
      FLAT,
    ),
    probabilistic_sharpe_ratio: ratioOrNull(
      'Probability that the true Sharpe ratio is above 0, from 0 to 1.',
      `Φ(S × √((N - 1) / v)), ${V}`,
      [...FLAT, 'zero_denominator'],
    ),
    min_track_record_days: ratioOrNull(
      'Days of record at which the Sharpe ratio is above 0 with 95 % confidence.',
      `1 + v × (1.645 / S)², ${V}`,
      [...FLAT, 'non_positive_sharpe'],
    ),
    sharpe_monthly_annualized: ratioOrNull(
      'Mean / sample deviation of complete months x the square root of 12.',
      'mean(m) / sd(m) × √12',
      FLAT,
    ),
    sortino_weekly_annualized: ratioOrNull(
      'Sortino ratio of complete weeks x the square root of 52.',
      'mean(w) / √mean(min(w, 0)²) × √52',
      PAINLESS,
    ),
    calmar: ratioOrNull('CAGR / |maximum drawdown|.', 'CAGR / |min(d)|', PER_DRAWDOWN),
    recovery_factor: ratioOrNull('Net return / |maximum drawdown|.', '(E_N - 1) / |min(d)|', [
      'too_few_points',
      'no_drawdown',
      'ruin',
    ]),
    omega: ratioOrNull(
      'Sum of the positive / |sum of the negative| daily returns.',
      'sum(r > 0) / |sum(r < 0)|',
      PAINLESS,
    ),
    gain_to_pain_monthly: ratioOrNull(
      'Sum of complete months / |sum of the negative ones|.',
      'sum(m) / |sum(m < 0)|',
      PAINLESS,
    ),
    ulcer_index_pct: pct('Root mean square of the drawdown over all days.', '100 × √mean(d²)', TOO_FEW),
    ulcer_performance_index: ratioOrNull('CAGR / ulcer index.', 'CAGR / √mean(d²)', PER_DRAWDOWN),
    pain_index_pct: pct('Mean depth of the drawdown over all days.', '100 × mean(|d|)', TOO_FEW),
    tail_ratio: ratioOrNull(
      '|95th percentile| / |5th percentile| of daily returns.',
      '|Q(0.95)| / |Q(0.05)|',
      [...TOO_FEW, 'zero_denominator'],
    ),
    skewness_daily: ratioOrNull(
      'Third standardised population moment of daily returns.',
      'm3 / m2^1.5, mj = mean((r - mean(r))^j)',
      FLAT,
    ),
    kurtosis_excess_daily: ratioOrNull(
      'Fourth standardised population moment of daily returns, less 3.',
      'm4 / m2² - 3, mj = mean((r - mean(r))^j)',
      FLAT,
    ),
    var_95_daily_pct: pct(
      '5th percentile of daily returns (type 7), negative for a loss.',
      '100 × Q(0.05)',
      TOO_FEW,
    ),
    cvar_95_daily_pct: pct(
      'Mean of the worst 5 % of days.',
      '100 × mean of the floor((N - 1) / 20) + 1 smallest r',
      TOO_FEW,
    ),
    var_99_daily_pct: pct('1st percentile of daily returns (type 7).', '100 × Q(0.01)', TOO_FEW),
    cvar_99_daily_pct: pct(
      'Mean of the worst 1 % of days.',
      '100 × mean of the floor((N - 1) / 100) + 1 smallest r',
      TOO_FEW,
    ),
    best_day_pct: pct('Best day.', '100 × max(r)', TOO_FEW),
    worst_day_pct: pct('Worst day.', '100 × min(r)', TOO_FEW),
    positive_days_pct: pct('Share of all days with a gain.', '100 × n(r > 0) / N', TOO_FEW),
    autocorrelation_lag1_daily: ratioOrNull(
      'Correlation of each daily return with the one before.',
      'Pearson correlation of r_1 … r_(N-1) with r_2 … r_N',
      FLAT,
    ),
    stability_r2: ratioOrNull(
      'R squared of the cumulative log return against time.',
      'squared Pearson correlation of ln(E_1) … ln(E_N) with 1 … N',
      FLAT,
    ),
    kelly_leverage: ratioOrNull('Mean / sample variance of daily returns.', 'mean(r) / sd(r)²', FLAT),
  })
  .describe('Return against risk, and the shape of the daily returns.')
  .meta(
    convention(
      'r: daily returns, N of them; w: returns of complete ISO weeks, m: of complete months; E: equity compounded from ' +
        '1; d: daily drawdowns E / peak - 1, never positive. Risk-free rate and threshold 0; 365 days, 52 weeks and 12 ' +
        'months a year; sample deviation (n - 1); Q: quantile of type 7, linear between order statistics. VaR, CVaR and ' +
        'the tail ratio need 20 days at 5 % and 100 days at 1 %; skewness and autocorrelation need 3, kurtosis and what ' +
        'is made of it 4. Losses up to 1e-12 are none.',
    ),
  )
