// Units of the fields of `fund_dd`, and the reasons for which many of them are null.
import { z } from 'zod'
import { figureRule, type NullRule } from './figure-rule.ts'

const nullable = (about: string, formula: string, nulls: NullRule) =>
  z.number().nullable().describe(about).meta(figureRule(formula, nulls))

/** A percent, 6 decimals; null for one of the reasons given. */
export const pct = (about: string, formula: string, nulls: NullRule = []) =>
  nullable(`${about} Percent.`, formula, nulls)

/** A number without a unit, 6 decimals. */
export const ratioOrNull = (about: string, formula: string, nulls: NullRule = []) =>
  nullable(about, formula, nulls)

export const hours = (about: string, formula: string, nulls: NullRule = []) =>
  nullable(`${about} Hours.`, formula, nulls)

export const days = (about: string, formula: string, nulls: NullRule = []) =>
  nullable(`${about} Calendar days.`, formula, nulls)

export const count = (about: string, formula: string) => z.int().describe(about).meta(figureRule(formula, []))

/** A count that a strategy without the data for it does not have. */
export const countOrNull = (about: string, formula: string, nulls: NullRule = []) =>
  z.int().nullable().describe(about).meta(figureRule(formula, nulls))

export const TRADELESS = ['no_trades'] as const satisfies NullRule
export const WINLESS = ['no_trades', 'no_wins'] as const satisfies NullRule
export const LOSSLESS = ['no_trades', 'no_losses'] as const satisfies NullRule
export const TOO_FEW = ['too_few_points', 'ruin'] as const satisfies NullRule
export const FLAT = ['too_few_points', 'zero_variance', 'ruin'] as const satisfies NullRule
export const PAINLESS = ['too_few_points', 'no_losses', 'ruin'] as const satisfies NullRule
export const UPLESS = ['too_few_points', 'no_wins', 'ruin'] as const satisfies NullRule
