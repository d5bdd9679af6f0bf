// The block `fund_dd`: what a fund's due diligence asks for, always at base risk. Each field carries its definition;
// the conventions are 365 days, 52 weeks and 12 months a year, risk-free rate 0, sample deviations.
import { z } from 'zod'
import { drawdowns, monthly } from './fund-dd-path.ts'
import { count, hours, pct, ratioOrNull } from './fund-dd-units.ts'
import { annual, exposure } from './fund-dd-years.ts'

const side = (which: string) =>
  z
    .looseObject({
      count: count(`Closed ${which} trades.`),
      win_rate_pct: pct('Share with a gain.'),
      profit_factor: ratioOrNull('Gains / losses on account equity.'),
    })
    .describe(`The ${which} trades.`)

const trades = z
  .looseObject({
    count: count('Closed trades.'),
    win_rate_pct: pct('Share with a gain; a result of exactly 0 is none.'),
    profit_factor: ratioOrNull('Gains / losses on account equity.'),
    wins: count('Trades with a gain.'),
    losses: count('Trades with a loss.'),
    breakeven: count('Trades of exactly 0.'),
    expectancy_pct: pct('Mean result.'),
    expectancy_r: ratioOrNull('Mean result in units of the base risk.'),
    median_trade_pct: pct('Median result.'),
    std_trade_pct: pct('Sample standard deviation of the results.'),
    average_win_pct: pct('Mean of the gains.'),
    average_loss_pct: pct('Mean of the losses.'),
    payoff_ratio: ratioOrNull('Mean gain / |mean loss|.'),
    best_trade_pct: pct('Best result.'),
    worst_trade_pct: pct('Worst result.'),
    largest_loss_r: ratioOrNull('Worst result in units of the base risk.'),
    max_consecutive_wins: count('Longest run of gains by exit time.'),
    max_consecutive_losses: count('Longest run of losses by exit time.'),
    sqn: ratioOrNull(
      'System quality number: square root of the count x mean / sample deviation of the results.',
    ),
    kelly_fraction: ratioOrNull(
      'Win rate - (1 - win rate) / payoff ratio: fraction of equity if a loss is one R.',
    ),
    average_holding_hours: hours('Mean time from entry to exit.'),
    median_holding_hours: hours('Median time from entry to exit.'),
    max_holding_hours: hours('Longest time from entry to exit.'),
    trades_per_year: ratioOrNull('Closed trades / days of the series x 365.'),
    top5_wins_share_of_gross_profit_pct: pct('Share of all gains that the five largest make.'),
    long: side('long'),
    short: side('short'),
  })
  .describe('Closed trades, each by its net return on account equity at entry.')

const riskAdjusted = z
  .looseObject({
    volatility_annualized_pct: pct('Sample deviation of daily returns x the square root of 365.'),
    downside_deviation_annualized_pct: pct(
      'Root mean square of the negative daily returns over all days x the square root of 365.',
    ),
    sharpe_std_error: ratioOrNull(
      'Standard error of the annualised daily Sharpe ratio, given skew and kurtosis.',
    ),
    probabilistic_sharpe_ratio: ratioOrNull(
      'Probability that the true Sharpe ratio is above 0, from 0 to 1.',
    ),
    min_track_record_days: ratioOrNull(
      'Days of record at which the Sharpe ratio is above 0 with 95 % confidence.',
    ),
    sharpe_monthly_annualized: ratioOrNull(
      'Mean / sample deviation of complete months x the square root of 12.',
    ),
    sortino_weekly_annualized: ratioOrNull('Sortino ratio of complete weeks x the square root of 52.'),
    calmar: ratioOrNull('CAGR / |maximum drawdown|.'),
    recovery_factor: ratioOrNull('Net return / |maximum drawdown|.'),
    omega: ratioOrNull('Sum of the positive / |sum of the negative| daily returns.'),
    gain_to_pain_monthly: ratioOrNull('Sum of complete months / |sum of the negative ones|.'),
    ulcer_index_pct: pct('Root mean square of the drawdown over all days.'),
    ulcer_performance_index: ratioOrNull('CAGR / ulcer index.'),
    pain_index_pct: pct('Mean depth of the drawdown over all days.'),
    tail_ratio: ratioOrNull('|95th percentile| / |5th percentile| of daily returns.'),
    skewness_daily: ratioOrNull('Third standardised population moment of daily returns.'),
    kurtosis_excess_daily: ratioOrNull('Fourth standardised population moment of daily returns, less 3.'),
    var_95_daily_pct: pct('5th percentile of daily returns (type 7), negative for a loss.'),
    cvar_95_daily_pct: pct('Mean of the worst 5 % of days.'),
    var_99_daily_pct: pct('1st percentile of daily returns (type 7).'),
    cvar_99_daily_pct: pct('Mean of the worst 1 % of days.'),
    best_day_pct: pct('Best day.'),
    worst_day_pct: pct('Worst day.'),
    positive_days_pct: pct('Share of all days with a gain.'),
    autocorrelation_lag1_daily: ratioOrNull('Correlation of each daily return with the one before.'),
    stability_r2: ratioOrNull('R squared of the cumulative log return against time.'),
    kelly_leverage: ratioOrNull('Mean / sample variance of daily returns.'),
  })
  .describe('Return against risk, and the shape of the daily returns.')

export const fundDueDiligence = z
  .looseObject({ trades, risk_adjusted: riskAdjusted, drawdowns, monthly, annual, exposure })
  .describe('Statistics for due diligence, always at base risk.')
