// Groups of `fund_dd` that need bars or a module, so that a night computes them and nothing else: costs, excursions,
// replays. Each field carries its definition, its formula and when it is null, each group its conventions.
import { z } from 'zod'
import { convention, countOrNull, type NullRule, pct, ratioOrNull } from './figure-rule.ts'

const SHARE = ['unknown_leverage', 'no_trades', 'no_wins'] as const satisfies NullRule
const UNKNOWN = ['unknown_leverage'] as const satisfies NullRule

export const costs = () =>
  z
    .looseObject({
      fees_pct_of_gross_profit: pct(
        'What the commissions took of the gross profit.',
        '100 × sum(q f (P_in + P_out)) / sum(g > 0)',
        SHARE,
      ),
      slippage_pct_of_gross_profit: pct(
        'What the slippage took of the gross profit.',
        '100 × sum(2 q S) / sum(g > 0)',
        SHARE,
      ),
      funding_pct_of_gross_profit: pct(
        'What the funding took of the gross profit; negative if more was received than paid.',
        '100 × sum(s q F) / sum(g > 0)',
        SHARE,
      ),
      at_twice_the_costs: z
        .looseObject({
          net_return_pct: pct('Net return.', '100 × (E_N - 1)', UNKNOWN),
          cagr_pct: pct('Compound annual growth rate.', '100 × (E_N^(365 / N) - 1)', [
            ...UNKNOWN,
            'less_than_one_year',
          ]),
          max_drawdown_pct: pct(
            'Deepest fall of the equity from a peak.',
            '100 × min(E_i / max(E_0 … E_(i-1)) - 1, 0)',
            UNKNOWN,
          ),
          sharpe_daily_annualized: ratioOrNull(
            'Sharpe ratio of the daily returns.',
            'mean(r) / sd(r) × √365',
            [...UNKNOWN, 'too_few_points', 'zero_variance', 'ruin'],
          ),
        })
        .describe('The account with each of its costs paid twice.'),
    })
    .describe('What costs took, and what would be left at twice the costs.')
    .meta(
      convention(
        'For each closed trade: L its leverage, P_in and P_out its prices, s 1 for a long and -1 for a short, q = L / P_in ' +
          'the quantity for each unit of account equity at entry, f the commission of one side, S the slippage of one fill ' +
          '(ticks × tick size), F the sum of funding rate × last known close over the payments after the entry up to the exit; ' +
          'x its net result on account equity at entry, g = x + q f (P_in + P_out) + 2 q S + s q F its result before costs. ' +
          'So the shares sum to (sum(g) - sum(x)) / sum(g > 0). Twice the costs: every entry is S worse at the same q, the ' +
          'result of a closed trade is 2 x - g, at least -1, and the ledger is marked again with doubled commission and ' +
          'funding; E: that equity, r: its daily returns, N of them. Decisions, stops and sizes stay. Needs bars and the ' +
          'leverage of every trade, the open ones included.',
      ),
    )

const distribution = (which: 'A' | 'B', about: string) => {
  const nulls = ['unknown_leverage', 'too_few_points'] as const satisfies NullRule
  const at = (p: number) => ratioOrNull(`${p} % quantile, in R.`, `${p} % quantile of ${which}`, nulls)
  return z
    .looseObject({
      mean: ratioOrNull('Mean, in R.', `mean(${which})`, nulls),
      p5: at(5),
      p25: at(25),
      p50: at(50),
      p75: at(75),
      p95: at(95),
    })
    .describe(about)
}

export const excursions = () =>
  z
    .looseObject({
      mae_r: distribution(
        'A',
        'Maximum adverse excursion: how far the price went against a trade; at most 0.',
      ),
      mfe_r: distribution(
        'B',
        'Maximum favourable excursion: how far the price went for a trade; at least 0.',
      ),
    })
    .describe('How far the price moved against the closed trades and for them while they were open.')
    .meta(
      convention(
        'One R is the move of the price that costs the base risk, base risk / L of the entry price, L the leverage of the ' +
          'trade: the distance to the stop that the position was sized by. A, B: smallest and largest s × (P / P_in - 1) × L / ' +
          'base risk of a trade, s 1 for a long and -1 for a short, P over the highs and lows of the bars that are whole ' +
          'between entry and exit, and over the prices of both. Quantiles of type 7. Needs 20 closed trades, bars and the ' +
          'leverage of every trade; a single trade is never shown.',
      ),
    )

const rowNumber = (about: string) => z.number().nullable().describe(about)

const rowPerformance = {
  net_return_pct: rowNumber('Net return. Percent.'),
  cagr_pct: rowNumber('Compound annual growth rate; null below one year. Percent.'),
  max_drawdown_pct: rowNumber('Deepest fall of the equity from a peak. Percent.'),
  sharpe_daily_annualized: rowNumber(
    'Sharpe ratio of the daily returns; null on ruin, without variance, and below two days.',
  ),
}

export const replays = () =>
  z
    .looseObject({
      entries_asked: countOrNull(
        'Decisions of the module to enter at base risk, refused ones included.',
        'number of decisions to enter',
        ['no_module'],
      ),
      entries_refused: countOrNull(
        'Those that the leverage cap refused, because base risk / distance to the stop is above it.',
        'number of decisions to enter above the cap',
        ['no_module'],
      ),
      table: z
        .array(
          z.looseObject({
            risk_pct: z.number().describe('The risk level. A fraction: 0.02 = 2 %.'),
            replayed: z
              .looseObject({
                ...rowPerformance,
                trade_count: z.int().describe('Closed trades.'),
                entries_asked: z.int().describe('Decisions to enter.'),
                entries_refused: z.int().describe('Those that the leverage cap refused.'),
              })
              .describe('A run of the module with its positions sized at the level.'),
            rescaled: z
              .looseObject(rowPerformance)
              .describe('What `?risk_pct=` gives at the level: every daily return × level / base risk.'),
          }),
        )
        .nullable()
        .describe('A row for each level of `replayed_at` in the catalogue.'),
    })
    .describe('The module replayed at other risk levels, beside the arithmetic rescale to the same level.')
    .meta(
      convention(
        'A replay sizes a position on the equity at its decision, holds the quantity until the exit, and refuses entries ' +
          'above the leverage cap; a rescale does none of it. All costs are those of the catalogue. Decisions of the warm-up ' +
          'and before the inception do not count.',
      ),
    )
