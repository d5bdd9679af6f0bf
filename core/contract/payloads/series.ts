// Payloads of the series and ledgers of one strategy, of the correlation matrix and of the export.
import { z } from 'zod'
import { EXIT_REASONS } from '#core/replay/trade.ts'
import { isoDate, percent, strategyId } from './field.ts'

export const returnPoints = z
  .array(
    z.looseObject({
      t: isoDate('UTC day of the return; for a week its Sunday.'),
      ret: z.number().describe('Simple return of the period, a fraction; 10 significant digits.'),
    }),
  )
  .describe('The returns, ascending; weeks are complete ISO weeks only.')

export const curvePoints = z
  .array(
    z.looseObject({
      t: isoDate('UTC day at whose end the equity stands.'),
      equity: z.number().describe('Equity, 1.0 at the close before the first point; 10 significant digits.'),
    }),
  )
  .describe('The equity curve, ascending.')

export const trades = z
  .array(
    z.looseObject({
      side: z.enum(['long', 'short']).describe('Direction of the position.'),
      entry_time: z.number().describe('Instant of the entry, epoch milliseconds UTC.'),
      entry_price: z.number().describe('Fill price of the entry.'),
      exit_time: z.number().describe('Instant of the exit, epoch milliseconds UTC.'),
      exit_price: z.number().describe('Fill price of the exit.'),
      duration_days: z.number().describe('Exit minus entry, days, 6 decimals.'),
      return_pct: percent(
        'Return per unit of notional after all costs; after commission alone where the ledger tells no more.',
      ),
      result: z
        .enum(['win', 'loss', 'breakeven'])
        .describe('Sign of what the trade did to the equity, as the win rate counts it.'),
      exit_reason: z.enum(EXIT_REASONS).describe('Coarse category of the exit.'),
    }),
  )
  .describe('Closed trades, by entry time and then exit time.')

export const correlationMatrix = z
  .looseObject({
    ids: z.array(strategyId).describe('Row and column order.'),
    matrix: z
      .array(z.array(z.number()))
      .describe('Pearson correlations, 8 decimals; symmetric, 1 on the diagonal; 0 where undefined.'),
    undefined_pairs: z
      .array(
        z.looseObject({
          pair: z.tuple([z.string(), z.string()]).describe('The two strategies.'),
          overlap: z.int().describe('Periods that both have.'),
          reason: z.string().describe('Why there is no correlation.'),
        }),
      )
      .describe('The cells that are 0 because they are undefined.'),
  })
  .describe('Correlation of periodic returns, pairwise over the dates that both have.')

export const exportTable = z
  .looseObject({
    ids: z.array(strategyId).describe('All strategies, in catalogue order.'),
    rows: z
      .array(
        z.looseObject({
          t: isoDate('UTC day of the returns; for a week its Sunday.'),
          rets: z
            .record(z.string(), z.number())
            .describe('Return of each strategy, a fraction; a strategy has no key before its inception.'),
        }),
      )
      .describe('A row a period, ascending.'),
    correlation: correlationMatrix,
  })
  .describe('The returns of all strategies side by side.')
