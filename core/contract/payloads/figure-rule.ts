// How a statistic is described beside its definition: its formula, and the reasons for which it is null. Both
// ship in the OpenAPI document and in docs/figures.md; a test compares the reasons with what the computation
// gives.
import { z } from 'zod'
import { UNDEFINED_REASONS, type UndefinedReason } from '#core/figures/figure.ts'
import { byName, numberOrNull, whole, wholeOrNull } from './field.ts'

/** What the keyword `x-null-when` of a field lists: none for a field that is never null. */
export type NullRule = readonly UndefinedReason[]

export const figureRule = (formula: string, nulls: NullRule = []) => ({
  'x-formula': formula,
  'x-null-when': nulls,
})

/** What a computation of a figure needs that is not published. */
const NEEDS = {
  leverage: 'needs the leverage of the trades',
  bars: 'needs bars and the leverage of the trades',
  module: 'needs the module of the strategy',
  declaration: 'the operator declares it',
} as const

/**
 * A field that open data do not determine: marked so, and described with the reason. `examples/python/recompute.py` lists
 * exactly these fields.
 */
export const notRecomputable = <Field extends z.ZodType>(needs: keyof typeof NEEDS, field: Field): Field =>
  field
    .describe(`${field.description} Not recomputable from open data: ${NEEDS[needs]}.`)
    .meta({ 'x-recomputable': false })

export const noneRecomputable = <Fields extends z.ZodRawShape>(needs: keyof typeof NEEDS, fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, notRecomputable(needs, field as z.ZodType)]),
  ) as unknown as Fields

export const ABOUT_REASONS: { readonly [Reason in UndefinedReason]: string } = {
  too_few_points:
    'The series, or the ledger, has fewer points than the formula needs: 90 days, 26 complete weeks or 6 complete months for ' +
    'what is annualised, for the Kelly figures and for trades per year.',
  less_than_one_year:
    'The series has fewer than 365 days: a month extrapolated to a year says nothing of a year.',
  zero_variance: 'All values are the same, so there is nothing to divide by.',
  no_losses: 'There is no loss beyond 1e-12 to divide by, or to average.',
  no_wins: 'There is no gain beyond 1e-12 to divide by, or to average.',
  no_drawdown: 'The equity never fell below its peak; for the averages, for no more than a day at a time.',
  no_trades:
    'There is no closed trade, and for exposure none that is open either; where only returns are reported there is none by nature.',
  zero_denominator: 'The denominator of the formula is 0.',
  non_positive_sharpe: 'The Sharpe ratio is not above 0, so no length of record would show that it is.',
  ruin: 'A day took the whole equity: a ratio of nothing says nothing.',
  no_benchmark:
    'There are no bars of the instrument over these days, or the catalogue turns the comparison off.',
  no_trials: 'The catalogue does not declare how many variants were tried.',
  unknown_leverage: 'The leverage of a trade is unknown, or there are no bars to follow it on.',
  no_module: 'The service runs no module of the strategy, so which entries it asked for is unknown.',
  not_published: 'No earlier version contains the strategy with the same history.',
}

export const undefinedReasons = byName(
  'For each figure that is null, the path of its field and the reason. ' +
    UNDEFINED_REASONS.map(reason => `\`${reason}\`: ${ABOUT_REASONS[reason]}`).join(' ') +
    ' A figure that was defined after the version was published is null without a reason, and absent from its ' +
    'published files.',
  z.string(),
)

/** A number without a unit, 6 decimals; null for one of the reasons given. */
export const ratioOrNull = (about: string, formula: string, nulls: NullRule = []) =>
  numberOrNull(about).meta(figureRule(formula, nulls))

/** The same in percent. */
export const pct = (about: string, formula: string, nulls: NullRule = []) =>
  ratioOrNull(`${about} Percent.`, formula, nulls)

export const hours = (about: string, formula: string, nulls: NullRule = []) =>
  ratioOrNull(`${about} Hours.`, formula, nulls)

export const days = (about: string, formula: string, nulls: NullRule = []) =>
  ratioOrNull(`${about} Calendar days.`, formula, nulls)

export const count = (about: string, formula: string) => whole(about).meta(figureRule(formula))

/** A count that a strategy without the data for it does not have. */
export const countOrNull = (about: string, formula: string, nulls: NullRule = []) =>
  wholeOrNull(about).meta(figureRule(formula, nulls))

/**
 * The figures by which histories are compared, `of` one of them. E is its equity, r its daily returns and n their number,
 * by the letters of the group. `nulls` hold for all of them.
 */
export const headline = (of: string, [E, r, n]: readonly [string, string, string], nulls: NullRule = []) => ({
  net_return_pct: pct(`Net return of ${of}.`, `100 × (${E}_${n} - 1)`, nulls),
  cagr_pct: pct(`Compound annual growth rate of ${of}.`, `100 × (${E}_${n}^(365 / ${n}) - 1)`, [
    ...nulls.filter(reason => reason !== 'too_few_points'), // the year says it
    'less_than_one_year',
  ]),
  max_drawdown_pct: pct(
    `Deepest fall from a peak of ${of}.`,
    `100 × min(${E}_i / max(${E}_0 … ${E}_(i-1)) - 1, 0)`,
    nulls,
  ),
  sharpe_daily_annualized: ratioOrNull(
    `Sharpe ratio of the daily returns of ${of}; 90 days or more.`,
    `mean(${r}) / sd(${r}) × √365`,
    [...new Set([...nulls, ...FLAT])],
  ),
})

export const holding = (of: string, letters: readonly [string, string, string], nulls: NullRule) => ({
  ...headline(of, letters, nulls),
  volatility_annualized_pct: pct(`Volatility of ${of}.`, `100 × sd(${letters[1]}) × √365`, [
    ...new Set([...nulls, ...TOO_FEW]),
  ]),
})

export const UNTRADED = ['no_trades', 'too_few_points'] as const satisfies NullRule
export const TRADELESS = ['no_trades'] as const satisfies NullRule
export const WINLESS = ['no_trades', 'no_wins'] as const satisfies NullRule
export const LOSSLESS = ['no_trades', 'no_losses'] as const satisfies NullRule
export const TOO_FEW = ['too_few_points', 'ruin'] as const satisfies NullRule
export const FLAT = ['too_few_points', 'zero_variance', 'ruin'] as const satisfies NullRule
export const PAINLESS = ['too_few_points', 'no_losses', 'ruin'] as const satisfies NullRule
export const UPLESS = ['too_few_points', 'no_wins', 'ruin'] as const satisfies NullRule
