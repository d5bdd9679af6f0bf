// What the catalogue and the metadata of a strategy share.
import { z } from 'zod'
import { fraction, isoDate, list, numberOrNull, strategyId, text, textOrNull, whole, word } from './field.ts'
import { notRecomputable } from './figure-rule.ts'

export const VERIFICATION_STATES = ['unverified', 'single_verified', 'dual_verified', 'failed'] as const
export type VerificationState = (typeof VERIFICATION_STATES)[number]

export const TV_STATUSES = ['provisional', 'confirmed', 'diverged', 'not_applicable'] as const
export type TvStatus = (typeof TV_STATUSES)[number]

export const FUNDING_ASSUMPTIONS = ['historical', 'none', 'as_reported'] as const
export type FundingAssumption = (typeof FUNDING_ASSUMPTIONS)[number]

/** How figures came about; `mixed` where an answer has more than one of the others. */
export const BASES = ['backtested', 'reported', 'live', 'mixed'] as const
export type Basis = (typeof BASES)[number]

/** A leverage of the strategy; null where that of no trade is known. */
export const leverage = (about: string) => notRecomputable('leverage', numberOrNull(`${about} 6 decimals.`))

export const removedStrategies = () =>
  list(
    'Strategies that were published and are no more, in the order in which they were removed. No line is taken back.',
    z.object({
      id: strategyId,
      name: text('Display name.'),
      on: isoDate('Day on which it was removed.'),
      reason: text('Why, as the operator states it.'),
      published_since: textOrNull('Since when its history had been published.'),
      days: whole('Days of its history.'),
    }),
  )

export type RemovedStrategy = z.infer<ReturnType<typeof removedStrategies>>[number]

export const strategyIdentity = () => ({
  id: strategyId,
  name: text('Display name.'),
  blurb: textOrNull('One sentence for people, or null.'),
  tv_status: word(
    'Outcome of comparing the trades with the export of an external charting tool, in every build: `confirmed` if 99 % ' +
      'match in side, bars and prices of entry and exit, `diverged` otherwise; `provisional` without an export of this ' +
      'version that covers 95 % of the trades, or with too few trades (30, or 10 over a year); `not_applicable` to ' +
      'reported returns.',
    TV_STATUSES,
  ),
  basis: word(
    'How the history came about: `backtested` by a replay or computed from a ledger, or `reported` by its maker as ' +
      'daily returns. Signals of the live log are `live`.',
    BASES,
  ),
  instrument: text('Identifier of the perpetual contract.'),
  base_risk_pct: fraction('Share of equity that one trade risks at its stop, as the strategy itself trades.'),
  leverage_typical: leverage('Median entry leverage, notional / equity.'),
  leverage_max: leverage('Largest entry leverage, notional / equity.'),
  published_since: textOrNull(
    'Since when this history is published, a UTC instant: the first version with it, by its name, or when it was entered ' +
      'if its name is more than 36 hours older. No later version lacked the strategy, restated it, or had another version ' +
      'of its module, another base risk, or withdrew its end. In versions of older builds null.',
  ),
  ended_on: isoDate(
    'Last day of a strategy that is over; it is listed last. Null while it goes on.',
  ).nullable(),
  ended_reason: textOrNull('Why it is over, as the operator states it; or null.'),
  idle_since: isoDate(
    'Day of the last exit, if no trade has followed for 90 days, for longer than ever before, and no position is open.',
  ).nullable(),
  verification_state: word(
    'Depth of the internal validation: `single_verified` when the ledger audit passes, which recomputes the result of ' +
      'every trade; `dual_verified` when two independent computations of the daily marks agree as well, and ' +
      'funding is known for 99 % of the time of its positions; ' +
      '`unverified` when a result could not be recomputed, and while no trade is closed. Determined by every build. ' +
      'It does not show when the rules were written.',
    VERIFICATION_STATES,
  ),
})
