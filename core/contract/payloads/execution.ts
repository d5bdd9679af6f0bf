// Groups of `fund_dd` that need more than returns and trades, so that nothing but a build computes them: the benchmark needs the
// returns of the instrument, costs and excursions its bars, replays a module, `since_publication` the versions before. Fields and groups are described as in `due-diligence.ts`.
import { z } from 'zod'
import { fraction, record, recordsOrNull, textOrNull } from './field.ts'
import {
  convention,
  count,
  countOrNull,
  FLAT,
  headline,
  holding,
  type NullRule,
  noneRecomputable,
  pct,
  ratioOrNull,
  TOO_FEW,
  WINLESS,
} from './figure-rule.ts'

const UNKNOWN: NullRule = ['unknown_leverage']

const share = (about: string, part: string) =>
  pct(about, `100 × sum(${part}) / sum(g > 0)`, [...UNKNOWN, ...WINLESS])

export const costs = () =>
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
  }).meta(
    convention(
      'For each closed trade: L its leverage, P_in and P_out its prices, s 1 for a long and -1 for a short, q = L / P_in ' +
        'the quantity for each unit of account equity at entry, f the commission of one side, S the slippage of one fill ' +
        '(ticks × tick size), F the sum of funding rate × last known close over the payments after the entry up to the exit; ' +
        'x its net result on account equity at entry, g = x + q f (P_in + P_out) + 2 q S + s q F its result before costs. ' +
        'Fees and funding that a ledger states, times L, replace these. Twice the costs: every entry is S worse at the same ' +
        'q, the result of a closed trade is 2 x - g, at least -1, and the ledger is marked again with doubled commission and ' +
        'funding; E: that equity, r: its daily returns, N of them. Decisions, stops and sizes stay. Needs bars and the ' +
        'leverage of every trade, the open ones included.',
    ),
  )

const distribution = (which: 'A' | 'B', about: string) => {
  const figure = (name: string, formula: string) =>
    ratioOrNull(`${name}, in R.`, formula, [...UNKNOWN, 'too_few_points'])
  const at = (p: number) => figure(`${p} % quantile`, `${p} % quantile of ${which}`)
  const fields = { p5: at(5), p25: at(25), p50: at(50), p75: at(75), p95: at(95) }
  return z
    .looseObject(noneRecomputable('bars', { mean: figure('Mean', `mean(${which})`), ...fields }))
    .describe(about)
}

export const excursions = () =>
  record('How far the price moved against the closed trades and for them while they were open.', {
    mae_r: distribution('A', 'Maximum adverse excursion: how far the price went against a trade; at most 0.'),
    mfe_r: distribution('B', 'Maximum favourable excursion: how far the price went for a trade; at least 0.'),
  }).meta(
    convention(
      'One R is the move of the price that costs the base risk, base risk / L of the entry price, L the leverage of the ' +
        'trade: the distance to the stop that the position was sized by. A, B: smallest and largest s × (P / P_in - 1) × L / ' +
        'base risk of a trade, s 1 for a long and -1 for a short, P over the highs and lows of the bars that are whole ' +
        'between entry and exit, and over the prices of both. Quantiles of type 7. Needs 20 closed trades, bars and the ' +
        'leverage of every trade; a single trade is never shown.',
    ),
  )

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

export const replays = () =>
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
  }).meta(
    convention(
      'A replay sizes a position on the equity at its decision, holds the quantity until the exit, and refuses entries ' +
        'above the leverage cap; a rescale does none of it. E: equity compounded from E_0 = 1 of one of them, r: its N daily ' +
        'returns, n: its closed trades. All costs are those of the catalogue. Decisions of the warm-up ' +
        'and before the inception do not count.',
    ),
  )

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

const part = (about: string, nulls: NullRule) =>
  z
    .looseObject(holding('these days', ['P', 'p', 'n'], ['not_published', 'too_few_points', ...nulls]))
    .describe(about)

export const sincePublication = () =>
  record('The history before and after it was first published.', {
    published_since: textOrNull(
      'Since when this history is published, the same as in `/v1/strategies/{sid}`.',
    ),
    days_before: countOrNull('Days up to and including that day.', 'n', ['not_published']),
    days_after: countOrNull('Later days.', 'n', ['not_published']),
    before: part('The days that were known when the history was published.', []),
    after: part('The days after it: out of sample if bars and trades came in as they happened.', ['ruin']),
  }).meta(
    convention(
      'p: the n daily returns of the part, as published; P: equity compounded from P_0 = 1 at its beginning. A restated ' +
        'history, another version of the module, another base risk and a gap in the publication begin a new history, ' +
        'which was known when it was published. Risk-free rate 0, 365 days a year, sample deviation (n - 1).',
    ),
  )
