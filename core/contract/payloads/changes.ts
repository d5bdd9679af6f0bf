// Payload of `changes.json`: what a version adds to the one before it, and what it alters.
import { z } from 'zod'
import { isoDate, strategyId } from './field.ts'

/** Altered values that are listed one by one; beyond them only their number is told. */
export const MOST_LISTED = 100

const appended = z
  .object({ from: z.string(), to: z.string(), n: z.int() })
  .nullable()
  .describe('Dates that are new at the end, null where there are none.')

const restatedValue = z.object({
  t: isoDate('Day of the return; for a week its Sunday.'),
  old: z.number().nullable().describe('As published before, null where there was no value.'),
  new: z.number().nullable().describe('As published now, null where there is none any more.'),
})

const seriesChanges = z.object({
  appended,
  restated_count: z.int().describe('Published values that differ, came in between, or are gone.'),
  restated: z.array(restatedValue).describe(`The first ${MOST_LISTED} of them.`),
})

const change = z.object({
  field: z.string(),
  old: z.unknown().describe('Value before.'),
  new: z.unknown().describe('Value now.'),
})

const restatedTrade = z.object({
  side: z.string(),
  entry_time: z.number(),
  exit_time: z.number(),
  changes: z.array(change).describe('What differs; `trade` where the whole trade came or went.'),
})

export const strategyChanges = z.object({
  id: strategyId,
  daily: seriesChanges,
  weekly: seriesChanges,
  trades: z.object({
    appended: z.int().describe('Trades that closed after the window before.'),
    restated_count: z.int(),
    restated: z.array(restatedTrade).describe(`The first ${MOST_LISTED} of them.`),
  }),
  stats: z.array(change).describe('Headline figures that moved; they move with every day.'),
  catalogue: z.array(change).describe('Facts of the catalogue that differ.'),
})

const rolledBack = z
  .object({
    version: z.string().describe('The version that was published, shown, and rolled back.'),
    removed: z.array(strategyId).describe('Strategies that it had, and that are gone.'),
    strategies: z.array(strategyChanges),
  })
  .describe('What a version that was rolled back had shown otherwise; absent where nothing is.')

export const changes = z.object({
  version: z.string(),
  previous: z.string().nullable().describe('The version before, null for the first.'),
  history_restated: z.boolean().describe('Whether anything published before is altered or gone.'),
  added: z.array(strategyId).describe('Strategies that are new.'),
  removed: z.array(strategyId).describe('Strategies that are gone, their history with them.'),
  strategies: z.array(strategyChanges),
  rolled_back: rolledBack.optional(),
  not_compared: z
    .array(z.string())
    .optional()
    .describe(
      'Versions that were published and could not be read any more: what is altered of them nobody can say, so that ' +
        'history counts as restated. Absent where all could be read.',
    ),
})

export type Changes = z.infer<typeof changes>
export type StrategyChanges = z.infer<typeof strategyChanges>
export type SeriesChanges = z.infer<typeof seriesChanges>
export type RestatedTrade = z.infer<typeof restatedTrade>
export type Change = z.infer<typeof change>
