// Groups of `fund_dd` that need bars or a module, so that a night computes them and nothing else: costs, excursions,
// replays. Each field carries its definition, its formula and when it is null, each group its conventions.
import { z } from 'zod'
import { fraction, record, recordsOrNull } from './field.ts'
import {
  convention,
  count,
  countOrNull,
  headline,
  type NullRule,
  noneRecomputable,
  pct,
  ratioOrNull,
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
    at_twice_the_costs: z
      .looseObject(noneRecomputable('bars', headline('the account', ['E', 'r', 'N'], UNKNOWN)))
      .describe('The account with each of its costs paid twice.'),
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
      rescaled: z
        .looseObject(headline('the rescale', ['E', 'r', 'N']))
        .describe('What `?risk_pct=` gives at the level: every daily return × level / base risk.'),
    }),
  }).meta(
    convention(
      'A replay sizes a position on the equity at its decision, holds the quantity until the exit, and refuses entries ' +
        'above the leverage cap; a rescale does none of it. E: equity compounded from E_0 = 1 of one of them, r: its N daily ' +
        'returns, n: its closed trades. All costs are those of the catalogue. Decisions of the warm-up ' +
        'and before the inception do not count.',
    ),
  )
