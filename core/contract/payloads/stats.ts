// The statistics of a strategy. Each field carries its definition, its formula and when it is null, each
// group its conventions.
import { z } from 'zod'
import { annual, drawdowns, exposure, monthly, riskAdjusted } from './due-diligence.ts'
import {
  flag,
  fraction,
  isoDate,
  numberOrNull,
  percent,
  record,
  recordsOrNull,
  text,
  textOrNull,
} from './field.ts'
import {
  count,
  countOrNull,
  FLAT,
  figureRule,
  headline,
  holding,
  hours,
  LOSSLESS,
  type NullRule,
  noneRecomputable,
  notRecomputable,
  PAINLESS,
  pct,
  ratioOrNull,
  TOO_FEW,
  TRADELESS,
  UNTRADED,
  undefinedReasons,
  WINLESS,
} from './figure-rule.ts'
import { ofLeverage } from './strategy.ts'

const PROFIT_FACTOR = 'sum(x > 0) / |sum(x < 0)|'
const PROFIT_FACTOR_NOTIONAL = 'sum(y > 0) / |sum(y < 0)|'
const ABOUT_NOTIONAL =
  'Gains / losses of the closed trades per unit of notional: computed from `return_pct` of `/trades` alone.'

/** A result on account equity needs the leverage of the trade, which can be estimated from open data, and not recomputed. */
const onEquity = <Field extends z.ZodType>(field: Field): Field => notRecomputable('leverage', field)

const tradesHead = (which: string, aboutWinRate: string) => ({
  count: count(`${which} trades.`, 'n'),
  win_rate_pct: pct(aboutWinRate, '100 × n(x > 0) / n', TRADELESS),
  profit_factor: onEquity(ratioOrNull('Gains / losses on account equity.', PROFIT_FACTOR, LOSSLESS)),
  profit_factor_notional: ratioOrNull(ABOUT_NOTIONAL, PROFIT_FACTOR_NOTIONAL, LOSSLESS),
})

const side = (which: string) =>
  z.looseObject(tradesHead(`Closed ${which}`, 'Share with a gain.')).describe(`The ${which} trades.`)

const tradeGroup = () =>
  record('Closed trades, each by its net return on account equity at entry.', {
    ...tradesHead('Closed', 'Share with a gain; a result of exactly 0 is none.'),
    wins: count('Trades with a gain.', 'n(x > 0)'),
    losses: count('Trades with a loss.', 'n(x < 0)'),
    breakeven: count('Trades of exactly 0.', 'n(x = 0)'),
    ...noneRecomputable('leverage', {
      expectancy_pct: pct('Mean result.', '100 × mean(x)', TRADELESS),
      expectancy_r: ratioOrNull('Mean result in units of the base risk.', 'mean(x) / base risk', TRADELESS),
      median_trade_pct: pct('Median result.', '100 × median(x)', TRADELESS),
      std_trade_pct: pct('Sample standard deviation of the results.', '100 × sd(x)', UNTRADED),
      average_win_pct: pct('Mean of the gains.', '100 × mean(x > 0)', WINLESS),
      average_loss_pct: pct('Mean of the losses.', '100 × mean(x < 0)', LOSSLESS),
      payoff_ratio: ratioOrNull('Mean gain / |mean loss|.', 'mean(x > 0) / |mean(x < 0)|', [
        ...WINLESS,
        'no_losses',
      ]),
      best_trade_pct: pct('Best result.', '100 × max(x)', TRADELESS),
      worst_trade_pct: pct('Worst result.', '100 × min(x)', TRADELESS),
      largest_loss_r: ratioOrNull('Worst result in units of the base risk.', 'min(x) / base risk', LOSSLESS),
    }),
    max_consecutive_wins: count('Longest run of gains by exit time.', 'longest run of x > 0'),
    max_consecutive_losses: count('Longest run of losses by exit time.', 'longest run of x < 0'),
    ...noneRecomputable('leverage', {
      sqn: ratioOrNull(
        'System quality number: square root of the count x mean / sample deviation of the results.',
        '√n × mean(x) / sd(x)',
        [...UNTRADED, 'zero_variance'],
      ),
      kelly_fraction: ratioOrNull(
        'Win rate - (1 - win rate) / payoff ratio: fraction of equity if a loss is one R.',
        'p - (1 - p) / payoff ratio, p = n(x > 0) / n',
        [...WINLESS, 'no_losses', 'too_few_points'],
      ),
    }),
    average_holding_hours: hours('Mean time from entry to exit.', 'mean(exit - entry)', TRADELESS),
    median_holding_hours: hours('Median time from entry to exit.', 'median(exit - entry)', TRADELESS),
    max_holding_hours: hours('Longest time from entry to exit.', 'max(exit - entry)', TRADELESS),
    trades_per_year: ratioOrNull('Closed trades / days of the series x 365.', '365 × n / N', UNTRADED),
    top5_wins_share_of_gross_profit_pct: onEquity(
      pct(
        'Share of all gains that the five largest make.',
        '100 × sum(5 largest x > 0) / sum(x > 0)',
        WINLESS,
      ),
    ),
    long: side('long'),
    short: side('short'),
  }).meta({
    'x-convention':
      'x: net results of the closed trades on account equity at entry, n of them; y: the same per unit of notional, as ' +
      '`/trades` publishes it; N: days of the series. ' +
      'A result of exactly 0 counts as a trade and is neither gain nor loss. Sample deviation (n - 1). ' +
      'Losses up to 1e-12 are none. Ruin changes nothing here: these speak of the ledger.',
  })

// Groups that need more than returns and trades, so that nothing but a build computes them: the benchmark needs the returns of the
// instrument, costs and excursions its bars, replays a module, `since_publication` the versions before.

const UNKNOWN: NullRule = ['unknown_leverage']

const share = (about: string, part: string) =>
  pct(about, `100 × sum(${part}) / sum(g > 0)`, [...UNKNOWN, ...WINLESS])

const costs = () =>
  record('What costs took, and what would be left at twice the costs.', {
    ...noneRecomputable('bars', {
      fees_pct_of_gross_profit: share('What the commissions took of the gross profit.', 'q f (P_in + P_out)'),
      slippage_pct_of_gross_profit: share('What the slippage took of the gross profit.', '2 q S'),
      funding_pct_of_gross_profit: share(
        'What the funding took of the gross profit; negative if more was received than paid.',
        's q F',
      ),
    }),
    at_twice_the_costs: record(
      'The account with each of its costs paid twice.',
      noneRecomputable('bars', headline('the account', ['E', 'r', 'N'], UNKNOWN)),
    ),
  }).meta({
    'x-convention':
      'For each closed trade: L its leverage, P_in and P_out its prices, s 1 for a long and -1 for a short, q = L / P_in ' +
      'the quantity for each unit of account equity at entry, f the commission of one side, S the slippage of one fill ' +
      '(ticks × tick size), F the sum of funding rate × last known close over the payments after the entry up to the exit; ' +
      'x its net result on account equity at entry, g = x + q f (P_in + P_out) + 2 q S + s q F its result before costs. ' +
      'Fees and funding that a ledger states, times L, replace these. Twice the costs: every entry is S worse at the same ' +
      'q, the result of a closed trade is 2 x - g, at least -1, and the ledger is marked again with doubled commission and ' +
      'funding; E: that equity, r: its daily returns, N of them. Decisions, stops and sizes stay. Needs bars and the ' +
      'leverage of every trade, the open ones included.',
  })

const distribution = (which: 'A' | 'B', about: string) => {
  const figure = (name: string, formula: string) =>
    ratioOrNull(`${name}, in R.`, formula, [...UNKNOWN, 'too_few_points'])
  const at = (p: number) => figure(`${p} % quantile`, `${p} % quantile of ${which}`)
  const fields = { p5: at(5), p25: at(25), p50: at(50), p75: at(75), p95: at(95) }
  return z
    .looseObject(noneRecomputable('bars', { mean: figure('Mean', `mean(${which})`), ...fields }))
    .describe(about)
}

const excursions = () =>
  record('How far the price moved against the closed trades and for them while they were open.', {
    mae_r: distribution('A', 'Maximum adverse excursion: how far the price went against a trade; at most 0.'),
    mfe_r: distribution('B', 'Maximum favourable excursion: how far the price went for a trade; at least 0.'),
  }).meta({
    'x-convention':
      'One R is the move of the price that costs the base risk, base risk / L of the entry price, L the leverage of the ' +
      'trade: the distance to the stop that the position was sized by. A, B: smallest and largest s × (P / P_in - 1) × L / ' +
      'base risk of a trade, s 1 for a long and -1 for a short, P over the highs and lows of the bars that are whole ' +
      'between entry and exit, and over the prices of both. Quantiles of type 7. Needs 20 closed trades, bars and the ' +
      'leverage of every trade; a single trade is never shown.',
  })

const entries = (risk: string, nulls: NullRule) =>
  noneRecomputable('module', {
    entries_asked: countOrNull(
      `Decisions of the module to enter at ${risk}, refused ones included.`,
      'number of decisions to enter',
      nulls,
    ),
    entries_refused: countOrNull(
      `Those that the leverage cap refused, because ${risk} / distance to the stop is above it.`,
      'number of decisions to enter above the cap',
      nulls,
    ),
  })

const replays = () =>
  record('The module replayed at other risk levels, beside the arithmetic rescale to the same level.', {
    ...entries('base risk', ['no_module']),
    table: recordsOrNull('A row for each level of `replayed_at` in the catalogue.', {
      risk_pct: fraction('The risk level.'),
      replayed: record('A run of the module with its positions sized at the level.', {
        ...noneRecomputable('module', {
          ...headline('the replay', ['E', 'r', 'N']),
          trade_count: count('Closed trades.', 'n'),
        }),
        ...entries('the level', []),
      }),
      rescaled: record(
        'What `?risk_pct=` gives at the level: every daily return × level / base risk.',
        headline('the rescale', ['E', 'r', 'N']),
      ),
    }),
  }).meta({
    'x-convention':
      'A replay sizes a position on the equity at its decision, holds the quantity until the exit, and refuses entries ' +
      'above the leverage cap; a rescale does none of it. E: equity compounded from E_0 = 1 of one of them, r: its N daily ' +
      'returns, n: its closed trades. All costs are those of the catalogue. Decisions of the warm-up ' +
      'and before the inception do not count.',
  })

const NONE: NullRule = ['no_benchmark']
const MONTHLY: NullRule = [...NONE, ...TOO_FEW]

const compared = (about: string, formula: string) => ratioOrNull(about, formula, [...NONE, ...FLAT])

const benchmark = () =>
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
  }).meta({
    'x-convention':
      'r: daily returns, b: those of the instrument on the same N days, both as published; E and B: equity compounded ' +
      'from 1 of each; m and c: complete months of both. The benchmark pays no costs and no funding. Risk-free rate 0, 365 ' +
      'days a year, sample deviation (n - 1). Sums of the months of the benchmark up to 1e-12 are none.',
  })

const part = (about: string, nulls: NullRule) =>
  z
    .looseObject(holding('these days', ['P', 'p', 'n'], ['not_published', 'too_few_points', ...nulls]))
    .describe(about)

const sincePublication = () =>
  record('The history before and after it was first published.', {
    published_since: textOrNull(
      'Since when this history is published, the same as in `/v1/strategies/{sid}`.',
    ),
    days_before: countOrNull('Days up to and including that day.', 'n', ['not_published']),
    days_after: countOrNull('Later days.', 'n', ['not_published']),
    before: part('The days that were known when the history was published.', []),
    after: part('The days after it: out of sample if bars and trades came in as they happened.', ['ruin']),
  }).meta({
    'x-convention':
      'p: the n daily returns of the part, as published; P: equity compounded from P_0 = 1 at its beginning. A restated ' +
      'history, another version of the module, another base risk and a gap in the publication begin a new history, ' +
      'which was known when it was published. Risk-free rate 0, 365 days a year, sample deviation (n - 1).',
  })

export const fundDueDiligence = () =>
  record('Statistics for due diligence, always at base risk.', {
    trades: tradeGroup(),
    risk_adjusted: riskAdjusted(),
    drawdowns: drawdowns(),
    monthly: monthly(),
    annual: annual(),
    exposure: exposure(),
    benchmark: benchmark(),
    since_publication: sincePublication(),
    costs: costs(),
    excursions: excursions(),
    replays: replays(),
  }).meta({ id: 'DueDiligence' })

const figureOrNull = (about: string, formula: string, nulls: NullRule) =>
  ratioOrNull(`${about} 6 decimals.`, formula, nulls)

/** Payload of `/v1/strategies/{sid}/stats`. */
export const statsData = () =>
  record('The statistics of a strategy; `fund_dd` is always at base risk.', {
    ccy: text('Settlement currency.'),
    net_return_pct: percent('Net return over the window.').meta(figureRule('100 × (E_N - 1)')),
    cagr_pct: percent('Compound annual growth rate, 365 days a year; null below one year.')
      .nullable()
      .meta(figureRule('100 × (E_N^(365 / N) - 1)', ['less_than_one_year'])),
    max_drawdown_pct: percent(
      'Deepest fall of the equity from a peak, negative; the opening equity is a peak.',
    ).meta(figureRule('100 × min(E_i / max(E_0 … E_(i-1)) - 1, 0)')),
    sharpe_daily_annualized: figureOrNull(
      'Mean / sample standard deviation of daily returns x the square root of 365; risk-free rate 0.',
      'mean(r) / sd(r) × √365',
      FLAT,
    ),
    sortino_daily_annualized: figureOrNull(
      'Mean of daily returns / root mean square of the negative ones over all days, x the square root of 365.',
      'mean(r) / √mean(min(r, 0)²) × √365',
      PAINLESS,
    ),
    sharpe_weekly_annualized: figureOrNull(
      'Mean / sample standard deviation of the returns of complete ISO weeks x the square root of 52.',
      'mean(w) / sd(w) × √52',
      FLAT,
    ),
    time_underwater: record('Days on which the equity stands strictly below its earlier peak.', {
      longest_days: count(
        'Longest run of days under water, an open one included.',
        'longest run of E_i < max(E_0 … E_(i-1))',
      ),
      total_days: count('All days under water.', 'n(E_i < max(E_0 … E_(i-1)))'),
    }),
    trade_count: count('Closed trades.', 'n'),
    win_rate_pct: percent('Share of closed trades with a gain; 0 without trades.').meta(
      figureRule('100 × n(x > 0) / n'),
    ),
    profit_factor: onEquity(
      figureOrNull(
        'Gains / losses of the closed trades on account equity, at base risk.',
        PROFIT_FACTOR,
        LOSSLESS,
      ),
    ),
    profit_factor_notional: figureOrNull(ABOUT_NOTIONAL, PROFIT_FACTOR_NOTIONAL, LOSSLESS),
    n_days: count('Days in the series.', 'N'),
    n_weeks: count('Complete ISO weeks in the series.', 'n(w)'),
    start: isoDate('First day of the series.').nullable(),
    end: isoDate('Last day of the series.').nullable(),
    ruined: flag('True when the risk level takes the whole equity.'),
    ruin_t: isoDate('The day of ruin.').nullable(),
    leverage_max: ofLeverage(
      'Largest entry leverage, notional / equity, that the risk level implies; null where none is known.',
    ),
    refused_above_risk_pct: onEquity(
      numberOrNull(
        'Risk level above which the engine would have refused entries, because their leverage is over the cap of the ' +
          'strategy; null where no leverage is known, and for reported returns. A fraction: 0.02 = 2 %.',
      ),
    ),
    undefined: undefinedReasons,
    fund_dd: fundDueDiligence(),
  }).meta({
    id: 'Stats',
    'x-convention':
      'r: daily returns at base risk, N of them; w: returns of complete ISO weeks; E: equity compounded from E_0 = 1 at ' +
      'the risk level asked for; x: net results of the n closed trades on account equity at entry; y: `return_pct` of the ' +
      'closed trades. Risk-free rate 0, ' +
      'sample deviation (n - 1), 365 days and 52 weeks a year. The ratios and the trades ignore the risk level, which ' +
      'multiplies every return alike. Under water is below the peak by more than 1e-12 of it; losses up to 1e-12 are ' +
      'none. Without trades `win_rate_pct` is 0, with a reason. A rescale is arithmetic and no replay: ' +
      '`leverage_max` is the largest entry leverage × risk level / base risk, and from `refused_above_risk_pct` = base ' +
      'risk × leverage cap / largest entry leverage on (of a module at its decisions, refused ones included) the ' +
      'engine would have refused entries.',
  })
