// What the catalogue and the metadata of a strategy share.
import { z } from 'zod'
import {
  fraction,
  isoDate,
  list,
  listIfAny,
  number,
  numberOrNull,
  ratio,
  records,
  strategyId,
  text,
  textOrNull,
  type ValueOf,
  whole,
  wholeOrNull,
  word,
} from './field.ts'
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

export type StrategyIdentity = ValueOf<z.ZodObject<ReturnType<typeof strategyIdentity>>>

/** How far the funding of an instrument reaches within the window, as every version has it. */
export const fundingFields = () => ({
  instrument: text('Identifier of the perpetual contract.'),
  from: textOrNull('UTC instant of the first payment; null without funding.'),
  to: textOrNull('UTC instant of the last payment in the window.'),
  payments: whole(
    'Payments up to the end of the window; none if the operator states that the instrument has no funding.',
  ),
  gaps: whole('Places at which payments are missing; positions there are charged none.'),
  longest_gap_hours: numberOrNull('The longest of them. Hours; null without a gap.'),
  payments_missing: wholeOrNull(
    'Payments that are due in the gaps; null in versions that did not record it.',
  ),
  interval_basis: z
    .enum(['stated', 'inferred'])
    .nullable()
    .describe(
      '`stated` by the operator, or `inferred` as the finest interval of the payments; null without funding, ' +
        'and in versions that did not record it.',
    ),
  intervals: records('How often payments are due, in order of time.', {
    from: textOrNull('UTC instant of the payment after which it holds; null for the first.'),
    hours: number('Hours between two payments.'),
  }),
})

export type FundingCoverage = ValueOf<z.ZodObject<ReturnType<typeof fundingFields>>>

/** A serious finding in the data that the operator accepts. */
export const findingFields = () => ({
  finding: text('What kind of finding.'),
  of: text('The bars, as instrument and timeframe, or the id of a strategy.'),
  from: text('UTC instant of the first bar, trade or day that it concerns.'),
  to: text('UTC instant of the last.'),
  count: whole('How many bars, trades or days.'),
  what: text('What was expected and what was found.'),
  reason: text('Why the operator accepts it.'),
  strategies: list('Strategies whose history is made from these data.', strategyId),
})

export type AcceptedFinding = ValueOf<z.ZodObject<ReturnType<typeof findingFields>>>

/** What a build measured of the trades of a strategy. */
export const measuredFields = () => ({
  trades_checked: whole('Closed trades whose result was recomputed.'),
  mean_deviation_bps: ratio('Mean of given less recomputed result, basis points of equity.').nullable(),
  largest_deviation_bps: ratio('The one that is furthest from 0.').nullable(),
  trades_at_stop: whole('Trades that ended at the stop of their entry.'),
  loss_at_stop: ratio('Median of their losses, in units of the base risk.').nullable(),
  stated_costs: listIfAny(
    'What the maker of a ledger states itself in the place of the declared costs.',
    z.looseObject({
      cost: word('`fees`: both commissions of a trade; `funding`: positive if received.', [
        'fees',
        'funding',
      ]),
      trades: whole('Closed trades of which the ledger states it.'),
      mean_bps: ratio('Its mean, basis points of the notional at entry.'),
    }),
  ),
})

export type Measured = ValueOf<z.ZodObject<ReturnType<typeof measuredFields>>>
