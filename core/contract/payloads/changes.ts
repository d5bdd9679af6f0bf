// Payload of `changes.json`: what a version adds to the one before it, and what it alters.
import { z } from 'zod'
import { isoDate, strategyId } from './field.ts'

/** Altered values that are listed one by one; beyond them only their number is given. */
export const MOST_LISTED = 100

const appended = z
  .object({
    from: z.string().describe('First new date.'),
    to: z.string().describe('Last new date.'),
    n: z.int().describe('How many.'),
  })
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

const publishedTrade = z.object({
  side: z.string().describe('Direction of the position.'),
  entry_time: z.number().describe('Instant of the entry, epoch milliseconds UTC.'),
  exit_time: z.number().describe('Instant of the exit, epoch milliseconds UTC.'),
  entry_price: z.number().describe('Fill price of the entry.'),
  exit_price: z.number().describe('Fill price of the exit.'),
  return_pct: z.number().describe('Return per unit of notional. Percent.'),
  result: z.enum(['win', 'loss', 'breakeven']).describe('Sign of what the trade did to the equity.'),
  exit_reason: z.string().describe('Coarse category of the exit.'),
})

const changeValue = z.union([z.string(), z.number(), publishedTrade, z.null()])

const change = z
  .object({
    field: z.string().describe('What differs.'),
    old: changeValue.describe('Value before.'),
    new: changeValue.describe('Value now.'),
  })
  .meta({ id: 'Change' })

const restatedTrade = publishedTrade.pick({ side: true, entry_time: true, exit_time: true }).extend({
  changes: z.array(change).describe('What differs; `trade` where the whole trade came or went.'),
})

export const strategyChanges = z
  .object({
    id: strategyId,
    daily: seriesChanges.describe('Changes of the daily returns.'),
    weekly: seriesChanges.describe('Changes of the weekly returns.'),
    trades: z
      .object({
        appended: z.int().describe('Trades that closed after the window before.'),
        restated_count: z.int().describe('Published trades that differ, came in between, or are gone.'),
        restated: z.array(restatedTrade).describe(`The first ${MOST_LISTED} of them.`),
      })
      .describe('Changes of the trades.'),
    stats: z.array(change).describe('Headline figures that moved; they move with every day.'),
    catalogue: z
      .array(change)
      .describe(
        'Facts of the catalogue that differ. A different `base_risk_pct` is a restatement: it changes every figure at ' +
          'another risk level. So is a different `module_version`, which is a new history. An `ended` that is ' +
          'withdrawn or moved begins one too. `unpublished_trade_values` counts trades whose stop, leverage or account return differs.',
      ),
  })
  .meta({ id: 'StrategyChanges' })

const definitionChange = z
  .object({
    figure: z.string().describe('The figures that are defined otherwise now.'),
    from: z.string().describe('Definition before.'),
    to: z.string().describe('Definition now.'),
    why: z.string().describe('Reason of the change.'),
  })
  .meta({ id: 'DefinitionChange' })

const filledGap = z
  .object({
    of: z.string().describe('The bars, as instrument and timeframe.'),
    from: z.string().describe('UTC instant of the first bar that was missing.'),
    to: z.string().describe('UTC instant of the last bar that was missing.'),
    reason: z.string().describe('Why the gap had been accepted.'),
    strategies: z.array(strategyId).describe('Strategies whose history is made from these bars.'),
  })
  .meta({ id: 'FilledGap' })

const rolledBack = z
  .object({
    version: z.string().describe('The version that was published, shown, and rolled back.'),
    removed: z.array(strategyId).describe('Strategies that it had, and that are gone.'),
    strategies: z.array(strategyChanges).describe('The strategies that both versions have.'),
  })
  .describe('What a version that was rolled back had shown otherwise; absent where nothing is.')

/** What a version changes only if its operator says so, and why, in public. */
export const DECLARED = ['restate', 'remove', 'same_rules', 'after_lost'] as const

export const declaration = z
  .object({
    what: z
      .enum(DECLARED)
      .describe(
        '`restate`: published values of a strategy differ; `remove`: a strategy is gone; `same_rules`: the files of a ' +
          'module differ, and its rules are declared the same; `after_lost`: a version cannot be read any more.',
      ),
    of: z.string().describe('The id of the strategy; of `after_lost` the version.'),
    reason: z.string().describe('Why, as the operator states it.'),
  })
  .meta({ id: 'Declaration' })

export const changes = z
  .object({
    version: z.string().describe('The version, a UTC instant.'),
    previous: z.string().nullable().describe('The version before, null for the first.'),
    history_restated: z.boolean().describe('Whether anything published before is altered or gone.'),
    added: z.array(strategyId).describe('Strategies that are new.'),
    removed: z.array(strategyId).describe('Strategies that are gone, their history with them.'),
    strategies: z.array(strategyChanges).describe('The strategies that both versions have.'),
    dataset: z
      .array(change)
      .optional()
      .describe(
        'Facts of the dataset, its funding, its accepted findings and its benchmarks that differ. Absent where it is not known.',
      ),
    definitions: z
      .array(definitionChange)
      .optional()
      .describe(
        'Figures that this version defines otherwise than the one before. They may differ on the same data, which is no restatement. Absent where it is not known.',
      ),
    filled_gaps: z
      .array(filledGap)
      .optional()
      .describe(
        'Gaps that the version before listed as accepted and that have bars now: they explain restated values from ' +
          'their first day on. Absent where none was filled.',
      ),
    rolled_back: rolledBack.optional(),
    declared: z
      .array(declaration)
      .optional()
      .describe('What the operator had to declare to publish this version. Absent where nothing.'),
    not_compared: z
      .array(z.string())
      .optional()
      .describe(
        'Versions that were published and could not be read any more: what they altered is unknown, so ' +
          'history counts as restated. Absent where all could be read.',
      ),
  })
  .meta({ id: 'Changes' })

export type Changes = z.infer<typeof changes>
export type StrategyChanges = z.infer<typeof strategyChanges>
export type SeriesChanges = z.infer<typeof seriesChanges>
export type RestatedTrade = z.infer<typeof restatedTrade>
export type PublishedTrade = z.infer<typeof publishedTrade>
export type FilledGap = z.infer<typeof filledGap>
export type DefinitionChange = Readonly<z.infer<typeof definitionChange>>
export type Declaration = Readonly<z.infer<typeof declaration>>
export type Change = z.infer<typeof change>
