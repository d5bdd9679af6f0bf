// Payloads of `/v1/strategies` and `/v1/strategies/{sid}`.
import { z } from 'zod'
import { dateWindow, fraction, isoDate, percent, ratio, strategyId } from './field.ts'

export const VERIFICATION_STATES = ['unverified', 'single_verified', 'dual_verified', 'failed'] as const
export type VerificationState = (typeof VERIFICATION_STATES)[number]

export const TV_STATUSES = ['provisional', 'confirmed', 'diverged', 'not_applicable'] as const
export type TvStatus = (typeof TV_STATUSES)[number]

const identity = {
  id: strategyId,
  name: z.string().describe('Display name.'),
  blurb: z.string().nullable().describe('One sentence for people, or null.'),
  tv_status: z
    .enum(TV_STATUSES)
    .describe(
      'Cross-check of the ledger against an external charting tool; `provisional` until one was made.',
    ),
  instrument: z.string().describe('Identifier of the perpetual contract.'),
  base_risk_pct: fraction('Share of equity that one trade risks at its stop, as the strategy itself trades.'),
  leverage_typical: ratio('Median entry leverage, notional / equity.').nullable(),
  leverage_max: ratio('Largest entry leverage, notional / equity.').nullable(),
  verification_state: z
    .enum(VERIFICATION_STATES)
    .describe(
      'Depth of the internal validation: `single_verified` when the ledger audit passes, `dual_verified` when two ' +
        'independent computations of the daily marks agree as well. Recomputed at every build.',
    ),
}

export const strategyListItem = z
  .looseObject({
    ...identity,
    headline: z
      .looseObject({
        cagr_pct: percent('Compound annual growth rate.').nullable(),
        max_drawdown_pct: percent('Deepest fall from a peak, negative.'),
        sharpe_daily_annualized: ratio(
          'Sharpe ratio of daily returns, annualised by the square root of 365.',
        ).nullable(),
        profit_factor: ratio('Gross profit / gross loss of the closed trades.').nullable(),
        trade_count: z.int().describe('Closed trades.'),
      })
      .describe('The five figures of a list, at base risk.'),
  })
  .describe('A strategy in the catalogue.')

export const strategyList = z.array(strategyListItem).describe('All strategies, in catalogue order.')

export const strategyMetadata = z
  .looseObject({
    ...identity,
    window: dateWindow('First and last day of the published series.'),
    engine: z.string().describe('What computed the history.'),
    data_source: z.string().describe('Where the prices come from.'),
    denomination: z.string().describe('Settlement currency.'),
    inception: isoDate('The day on which the series begins.'),
    methodology_url: z.string().describe('Where the method is described.'),
    backtest_assumptions: z
      .looseObject({
        commission_bps_per_side: z.number().describe('Commission of each fill, basis points of notional.'),
        slippage_ticks: z
          .number()
          .describe('Slippage of each fill, ticks of the instrument, always against the account.'),
      })
      .describe('The costs in every figure.'),
    marking: z
      .enum(['marked', 'realised', 'reported'])
      .describe(
        'How the daily returns came about: open trades marked at every close; booked whole on the day of the exit, ' +
          'where the leverage is unknown; or reported by the maker of the history.',
      ),
    days_without_bars: z
      .int()
      .describe('Days of the window without any price; their return is 0 and caught up on the next day.'),
  })
  .describe('Everything about a strategy but its figures.')
