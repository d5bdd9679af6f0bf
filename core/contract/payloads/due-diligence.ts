// The block `fund_dd`: the statistics of a due diligence, always at base risk. Each field carries its
// definition, its formula and when it is null, each group its conventions.
import { Z_95 } from '#core/figures/sharpe.ts'
import { flag, isoDate, number, numberOrNull, record, recordsOrNull, whole, wholeOrNull } from './field.ts'
import {
  countOrNull,
  days,
  FLAT,
  notRecomputable,
  PAINLESS,
  pct,
  ratioOrNull,
  TOO_FEW,
  UNTRADED,
  UPLESS,
} from './figure-rule.ts'

const DRY = ['too_few_points', 'no_drawdown', 'ruin'] as const

const worstWindow = (length: number) =>
  pct(`Worst return of ${length} consecutive days.`, `100 × min(E_i / E_(i-${length}) - 1)`, TOO_FEW)

/** Over one of `parts` equal parts of the values `of`. */
const tailMean = (about: string, parts: number, of: 'd' | 'r') =>
  pct(about, `100 × mean of the floor((N - 1) / ${parts}) + 1 smallest ${of}`, TOO_FEW)

const shareWithGain = (of: string, value: string, count: string) =>
  pct(`Share of ${of} with a gain.`, `100 × n(${value} > 0) / ${count}`, TOO_FEW)

export const drawdowns = () =>
  record('Falls of the equity from its peaks; the opening equity is a peak.', {
    worst: recordsOrNull('The five deepest drawdowns.', {
      peak_t: isoDate('Day of the peak; it may be the day before the first.'),
      trough_t: isoDate('Day of the lowest equity.'),
      recovery_t: isoDate('Day on which the peak was reached again, null while it was not.').nullable(),
      depth_pct: number('Fall from the peak to the trough. Percent.'),
      days_to_trough: whole('From peak to trough.'),
      days_to_recovery: wholeOrNull('From trough to recovery.'),
      underwater_days: whole('Days strictly below the peak.'),
    }),
    count: countOrNull('Drawdowns, however shallow.', 'number of episodes'),
    lasting_count: countOrNull(
      'Drawdowns of two days or more: those that the averages are taken over.',
      'number of lasting episodes',
    ),
    average_depth_pct: pct(
      'Mean depth of the drawdowns of two days or more; dips of one day do not count.',
      '100 × mean(depth of a lasting episode)',
      DRY,
    ),
    average_underwater_days: days(
      'Mean length of the drawdowns of two days or more; dips of one day do not count.',
      'mean(days of a lasting episode)',
      DRY,
    ),
    current_drawdown_pct: pct('Distance of the last equity from its peak.', '100 × d_N'),
    current_underwater_days: days(
      'Length of the drawdown that is still open.',
      'days of the episode that is open, else 0',
    ),
    pct_time_underwater: pct('Share of days strictly below an earlier peak.', '100 × n(d < 0) / N', [
      'too_few_points',
    ]),
    longest_days: days('Longest drawdown.', 'max(days of an episode)'),
    total_days: days('All days under water.', 'n(d < 0)'),
    cdar_95_pct: tailMean('Mean of the worst 5 % of the daily drawdowns.', 20, 'd'),
    cdar_99_pct: tailMean('Mean of the worst 1 % of the daily drawdowns.', 100, 'd'),
    worst_7d_return_pct: worstWindow(7),
    worst_30d_return_pct: worstWindow(30),
    worst_90d_return_pct: worstWindow(90),
    worst_365d_return_pct: worstWindow(365),
  }).meta({
    'x-convention':
      'E: equity compounded from 1, N days; d: daily drawdowns E / peak - 1 where E is below the peak by more than 1e-12 ' +
      'of it, else 0. An episode is a run of days with d < 0, its depth the smallest d in it; a lasting one has two days or more, the one that is ' +
      'still open included. Windows are of ' +
      'consecutive calendar days and may begin at the opening equity; the tails need 20 days at 5 % and 100 at 1 %.',
  })

/** Of the returns `x` of complete periods. */
const completePeriods = (unit: 'month' | 'year', x: 'm' | 'y') => ({
  [`best_${unit}_pct`]: pct(`Best ${unit}.`, `100 × max(${x})`, TOO_FEW),
  [`worst_${unit}_pct`]: pct(`Worst ${unit}.`, `100 × min(${x})`, TOO_FEW),
  [`average_${unit}_pct`]: pct(`Mean ${unit}.`, `100 × mean(${x})`, TOO_FEW),
  [`median_${unit}_pct`]: pct(`Median ${unit}.`, `100 × median(${x})`, TOO_FEW),
  std_pct: pct('Sample standard deviation.', `100 × sd(${x})`, TOO_FEW),
  [`positive_${unit}s_pct`]: shareWithGain(`${unit}s`, x, 'n'),
  [`average_up_${unit}_pct`]: pct(`Mean of the ${unit}s with a gain.`, `100 × mean(${x} > 0)`, UPLESS),
  [`average_down_${unit}_pct`]: pct(`Mean of the ${unit}s with a loss.`, `100 × mean(${x} < 0)`, PAINLESS),
  [`longest_up_streak_${unit}s`]: countOrNull(
    `Longest run of ${unit}s with a gain.`,
    `longest run of ${x} > 0`,
  ),
  [`longest_down_streak_${unit}s`]: countOrNull(
    `Longest run of ${unit}s with a loss.`,
    `longest run of ${x} < 0`,
  ),
})

export const monthly = () =>
  record('UTC calendar months.', {
    table: recordsOrNull('Every month that the series touches.', {
      year: whole('UTC calendar year.'),
      month: whole('1 to 12.'),
      return_pct: number('Compounded return. Percent.'),
      partial: flag('True where the series has not every day of the month.'),
    }),
    complete_count: countOrNull('Complete months; all statistics below are over these.', 'n'),
    ...completePeriods('month', 'm'),
    best_rolling_3m_pct: pct('Best 3 consecutive months.', '100 × max(q3)', TOO_FEW),
    worst_rolling_3m_pct: pct('Worst 3 consecutive months.', '100 × min(q3)', TOO_FEW),
    positive_rolling_3m_pct: shareWithGain('the runs of 3 months', 'q3', 'n(q3)'),
    best_rolling_12m_pct: pct('Best 12 consecutive months.', '100 × max(q12)', TOO_FEW),
    worst_rolling_12m_pct: pct('Worst 12 consecutive months.', '100 × min(q12)', TOO_FEW),
    positive_rolling_12m_pct: shareWithGain('the runs of 12 months', 'q12', 'n(q12)'),
  }).meta({
    'x-convention':
      'm: returns of the n complete months, E at the end of the last day / E before the first day - 1; q3 and q12: the ' +
      'same over every 3 and 12 consecutive complete months. A month is complete when the series has each of its ' +
      'days. Sample deviation (n - 1); a month of exactly 0 is no gain, and ends a run. The table of a ruined ' +
      'account ends with the month of its ruin.',
  })

const PER_DRAWDOWN = ['less_than_one_year', 'no_drawdown', 'ruin'] as const
const V = 'v = 1 - skewness × S + (excess kurtosis + 2) / 4 × S², S = mean(r) / sd(r)'

export const riskAdjusted = () =>
  record('Return against risk, and the shape of the daily returns.', {
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
    deflated_sharpe_ratio: ratioOrNull(
      'Probability that the true Sharpe ratio is above the one expected of the best of T trials without skill, from 0 to 1.',
      `Φ((S - S0) × √((N - 1) / v)), S0 = ((1 - γ) × Φ⁻¹(1 - 1/T) + γ × Φ⁻¹(1 - 1/(T e))) / √(N - 1), 0 for T = 1; ${V}`,
      [...FLAT, 'zero_denominator', 'no_trials'],
    ),
    trials: notRecomputable(
      'declaration',
      countOrNull('Variants that the operator tried until this one was found, itself included.', 'T', [
        'no_trials',
      ]),
    ),
    min_track_record_days: ratioOrNull(
      'Days of record at which the Sharpe ratio is above 0 with 95 % confidence.',
      `1 + v × (${Z_95} / S)², ${V}`,
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
    recovery_factor: ratioOrNull('Net return / |maximum drawdown|.', '(E_N - 1) / |min(d)|', DRY),
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
    cvar_95_daily_pct: tailMean('Mean of the worst 5 % of days.', 20, 'r'),
    var_99_daily_pct: pct('1st percentile of daily returns (type 7).', '100 × Q(0.01)', TOO_FEW),
    cvar_99_daily_pct: tailMean('Mean of the worst 1 % of days.', 100, 'r'),
    best_day_pct: pct('Best day.', '100 × max(r)', TOO_FEW),
    worst_day_pct: pct('Worst day.', '100 × min(r)', TOO_FEW),
    positive_days_pct: shareWithGain('all days', 'r', 'N'),
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
  }).meta({
    'x-convention':
      'r: daily returns, N of them; w: returns of complete ISO weeks, m: of complete months; E: equity compounded from ' +
      '1; d: daily drawdowns E / peak - 1, never positive. Risk-free rate and threshold 0; 365 days, 52 weeks and 12 ' +
      'months a year; sample deviation (n - 1); Q: quantile of type 7, linear between order statistics. VaR, CVaR and ' +
      'the tail ratio need 20 days at 5 % and 100 days at 1 %; skewness and autocorrelation need 3, kurtosis and what ' +
      'is made of it 4. Losses up to 1e-12 are none. γ: 0.5772156649, the constant of Euler.',
  })

const trailing = (length: number) =>
  pct(`Return of the last ${length} days.`, `100 × (E_N / E_(N-${length}) - 1)`, TOO_FEW)

const toDate = (period: 'month' | 'year') =>
  pct(`Return of the ${period} that the series ends in.`, `100 × (E_N / E before the ${period} - 1)`, TOO_FEW)

export const annual = () =>
  record('UTC calendar years.', {
    table: recordsOrNull('Every year that the series touches.', {
      year: whole('UTC calendar year.'),
      return_pct: number('Compounded return. Percent.'),
      max_drawdown_pct: number('Deepest fall within the year; the equity at its start is a peak. Percent.'),
      sharpe: numberOrNull('Annualised Sharpe ratio of its days; null below 90.'),
      volatility_pct: numberOrNull('Annualised volatility of its days. Percent.'),
      trade_count: whole('Trades closed in the year.'),
      days: whole('Days of the series in the year.'),
      partial: flag('True where the series has not every day of the year.'),
    }),
    complete_count: countOrNull('Complete years; the statistics are over these.', 'n'),
    ...completePeriods('year', 'y'),
    trailing_30d_return_pct: trailing(30),
    trailing_90d_return_pct: trailing(90),
    trailing_180d_return_pct: trailing(180),
    trailing_365d_return_pct: trailing(365),
    trailing_1095d_cagr_pct: pct(
      'Compound annual growth rate of the last 1095 days.',
      '100 × ((E_N / E_(N-1095))^(1/3) - 1)',
      TOO_FEW,
    ),
    mtd_pct: toDate('month'),
    ytd_pct: toDate('year'),
  }).meta({
    'x-convention':
      'y: returns of the n complete years; E: equity compounded from 1, N days. A year is complete when the series has ' +
      'each of its days. Trailing windows are calendar days that end with the last one, and exist only where the ' +
      'series is as long. The Sharpe ratio of a row needs 90 days, the volatility two, both no ruin. The table of a ' +
      'ruined account ends with the year of its ruin.',
  })

const timeOf = (side: 'long' | 'short') =>
  pct(
    `Share of the window in which a ${side} position was open.`,
    `100 × time in which a ${side} one is open / T`,
    UNTRADED,
  )

export const exposure = () =>
  record('How much of the time the account was in the market.', {
    time_in_market_pct: pct(
      'Share of the window in which any position was open, the one that still is included.',
      '100 × time in which any is open / T',
      UNTRADED,
    ),
    active_days_pct: pct('Share of days whose return is not 0.', '100 × n(r ≠ 0) / N', ['too_few_points']),
    average_concurrent_positions: ratioOrNull(
      'Time in positions / time of the window.',
      'sum(time of each position) / T',
      UNTRADED,
    ),
    max_concurrent_positions: countOrNull(
      'Most positions open at one time.',
      'largest number open at one instant',
      UNTRADED,
    ),
    long_time_pct: timeOf('long'),
    short_time_pct: timeOf('short'),
    open_since: isoDate(
      'The UTC day of entry of the oldest position that is open at the end of the series; null if none is, and where ' +
        'only returns are reported. It ends with the window that is published, so an embargo hides newer positions.',
    ).nullable(),
  }).meta({
    'x-convention':
      'T: the window, from the midnight before the first day of the series to the midnight after the last; time ' +
      'outside it does not count. Positions: the closed trades, and those that are open at the end of the series, which ' +
      'last until it. An open one is not in `/trades`, so with one the figures follow from open data to a range only. ' +
      'r: daily returns, N of them. Ruin changes nothing here: these speak of the ledger.',
  })
