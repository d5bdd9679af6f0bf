// The group `trades` of `fund_dd`.
import { z } from 'zod'
import { convention } from './figure-rule.ts'
import { count, hours, LOSSLESS, pct, ratioOrNull, TRADELESS, WINLESS } from './fund-dd-units.ts'

const WIN_RATE = '100 × n(x > 0) / n'
const PROFIT_FACTOR = 'sum(x > 0) / |sum(x < 0)|'

const side = (which: string) =>
  z
    .looseObject({
      count: count(`Closed ${which} trades.`, 'n'),
      win_rate_pct: pct('Share with a gain.', WIN_RATE, TRADELESS),
      profit_factor: ratioOrNull('Gains / losses on account equity.', PROFIT_FACTOR, LOSSLESS),
    })
    .describe(`The ${which} trades.`)

export const trades = z
  .looseObject({
    count: count('Closed trades.', 'n'),
    win_rate_pct: pct('Share with a gain; a result of exactly 0 is none.', WIN_RATE, TRADELESS),
    profit_factor: ratioOrNull('Gains / losses on account equity.', PROFIT_FACTOR, LOSSLESS),
    wins: count('Trades with a gain.', 'n(x > 0)'),
    losses: count('Trades with a loss.', 'n(x < 0)'),
    breakeven: count('Trades of exactly 0.', 'n(x = 0)'),
    expectancy_pct: pct('Mean result.', '100 × mean(x)', TRADELESS),
    expectancy_r: ratioOrNull('Mean result in units of the base risk.', 'mean(x) / base risk', TRADELESS),
    median_trade_pct: pct('Median result.', '100 × median(x)', TRADELESS),
    std_trade_pct: pct('Sample standard deviation of the results.', '100 × sd(x)', [
      ...TRADELESS,
      'too_few_points',
    ]),
    average_win_pct: pct('Mean of the gains.', '100 × mean(x > 0)', WINLESS),
    average_loss_pct: pct('Mean of the losses.', '100 × mean(x < 0)', LOSSLESS),
    payoff_ratio: ratioOrNull('Mean gain / |mean loss|.', 'mean(x > 0) / |mean(x < 0)|', [
      ...WINLESS,
      'no_losses',
    ]),
    best_trade_pct: pct('Best result.', '100 × max(x)', TRADELESS),
    worst_trade_pct: pct('Worst result.', '100 × min(x)', TRADELESS),
    largest_loss_r: ratioOrNull('Worst result in units of the base risk.', 'min(x) / base risk', LOSSLESS),
    max_consecutive_wins: count('Longest run of gains by exit time.', 'longest run of x > 0'),
    max_consecutive_losses: count('Longest run of losses by exit time.', 'longest run of x < 0'),
    sqn: ratioOrNull(
      'System quality number: square root of the count x mean / sample deviation of the results.',
      '√n × mean(x) / sd(x)',
      [...TRADELESS, 'too_few_points', 'zero_variance'],
    ),
    kelly_fraction: ratioOrNull(
      'Win rate - (1 - win rate) / payoff ratio: fraction of equity if a loss is one R.',
      'p - (1 - p) / payoff ratio, p = n(x > 0) / n',
      [...WINLESS, 'no_losses'],
    ),
    average_holding_hours: hours('Mean time from entry to exit.', 'mean(exit - entry)', TRADELESS),
    median_holding_hours: hours('Median time from entry to exit.', 'median(exit - entry)', TRADELESS),
    max_holding_hours: hours('Longest time from entry to exit.', 'max(exit - entry)', TRADELESS),
    trades_per_year: ratioOrNull('Closed trades / days of the series x 365.', '365 × n / N', [
      ...TRADELESS,
      'too_few_points',
    ]),
    top5_wins_share_of_gross_profit_pct: pct(
      'Share of all gains that the five largest make.',
      '100 × sum(5 largest x > 0) / sum(x > 0)',
      WINLESS,
    ),
    long: side('long'),
    short: side('short'),
  })
  .describe('Closed trades, each by its net return on account equity at entry.')
  .meta(
    convention(
      'x: net results of the closed trades on account equity at entry, n of them; N: days of the series. ' +
        'A result of exactly 0 counts as a trade and is neither gain nor loss. Sample deviation (n - 1). ' +
        'Losses up to 1e-12 are none. Ruin changes nothing here: these speak of the ledger.',
    ),
  )
