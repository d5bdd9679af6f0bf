// Payloads of `/v1/strategies` and `/v1/strategies/{sid}`, and what others share with them.
import { z } from 'zod'
import { MODULE_VERSION } from '#core/replay/strategy.ts'
import {
  dateWindow,
  fraction,
  isoDate,
  list,
  listIfAny,
  number,
  numberOrNull,
  percent,
  ratio,
  record,
  recordOrNull,
  records,
  strategyId,
  text,
  textOrNull,
  type ValueOf,
  whole,
  word,
} from './field.ts'
import { notRecomputable } from './figure-rule.ts'

export const VERIFICATION_STATES = ['unverified', 'single_verified', 'dual_verified', 'failed'] as const
export type VerificationState = (typeof VERIFICATION_STATES)[number]

export const TV_STATUSES = ['provisional', 'confirmed', 'diverged', 'not_applicable'] as const
export type TvStatus = (typeof TV_STATUSES)[number]

/** How figures came about; `mixed` where an answer has more than one of the others. */
export const BASES = ['backtested', 'reported', 'live', 'mixed'] as const
export type Basis = (typeof BASES)[number]

/** A figure that needs the leverage of trades; null where that of none is known. */
export const ofLeverage = (about: string) => notRecomputable('leverage', numberOrNull(`${about} 6 decimals.`))

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
  leverage_typical: ofLeverage('Median entry leverage, notional / equity.'),
  leverage_max: ofLeverage('Largest entry leverage, notional / equity.'),
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

export const strategyList = () =>
  list(
    'All strategies, in catalogue order, those that are over last.',
    record('A strategy in the catalogue.', {
      ...strategyIdentity(),
      headline: record('The five figures of a list, at base risk.', {
        cagr_pct: percent('Compound annual growth rate.').nullable(),
        max_drawdown_pct: percent('Deepest fall from a peak, negative.'),
        sharpe_daily_annualized: ratio(
          'Sharpe ratio of daily returns, annualised by the square root of 365; 90 days or more.',
        ).nullable(),
        profit_factor: ofLeverage('Gains / losses of the closed trades on account equity.'),
        trade_count: whole('Closed trades.'),
      }),
    }).meta({ id: 'StrategyListItem' }),
  )

export const strategyMetadata = () =>
  record('Everything about a strategy but its figures.', {
    ...strategyIdentity(),
    window: dateWindow('First and last day of the published series.'),
    engine: text('What computed the history.'),
    data_source: text('Where the prices come from.'),
    denomination: text('Settlement currency.'),
    inception: isoDate('The day on which the series begins.'),
    methodology_url: text('Where the method is described.'),
    backtest_assumptions: record('The costs in every figure.', {
      commission_bps_per_side: number('Commission of each fill, basis points of notional.'),
      slippage_ticks: number('Slippage of each fill, ticks of the instrument, always against the account.'),
      tick_size: number('One tick, in the quote currency.'),
      funding: z
        .enum(['historical', 'none', 'as_reported'])
        .nullable()
        .describe(
          '`historical`: each payment of the instrument is charged at the last close known at its instant, as far as ' +
            '`/v1/dataset` says; `none`: the operator states that the instrument has none; `as_reported`: whatever ' +
            'the maker of the returns charged, or of a ledger without payments of its instrument. Null in versions of ' +
            'older builds.',
        ),
      result_tolerance_bps: numberOrNull(
        'Of a ledger: by how much a given result may differ from its recomputation, and a reported day from the ledger ' +
          'beside it. Basis points of equity; null for other histories.',
      ),
    }),
    module_version: z
      .string()
      .regex(MODULE_VERSION)
      .nullable()
      .describe(
        'Version of the strategy module: 1 to 32 letters, digits or `.`, `_`, `+`, `-`. A new one means other rules, so it ' +
          'is a restatement. Null for a ledger and for reported returns.',
      ),
    rules_sha256: textOrNull(
      'SHA-256 of what `sha256sum` prints for the module and all that it imports, sorted by path. Null without a module, ' +
        'and in versions of older builds.',
    ),
    rules_since: textOrNull(
      'Since when rules that are the same, or declared so, are published; never later than `published_since`. Null ' +
        'without a module, and in versions of older builds.',
    ),
    rules_declared_same: records(
      'Each time that the files of the module changed while its version did not.',
      {
        at: text('UTC instant of the version with other files of the module.'),
        reason: text('Why the rules are the same, as the operator states it.'),
      },
    ),
    marking: word(
      'How the daily returns came about: open trades marked at every close; booked whole on the day of the exit, ' +
        'where the leverage is unknown; or reported by the maker of the history.',
      ['marked', 'realised', 'reported'],
    ),
    measured: recordOrNull(
      'What the build measured of the trades; null in versions of older builds. Null without such a trade.',
      {
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
      },
    ),
    days_without_bars: whole(
      'Days of the window without any price; their return is 0 and caught up on the next day.',
    ),
  }).meta({ id: 'Strategy' })

export type StrategyPayload = ValueOf<ReturnType<typeof strategyMetadata>>
