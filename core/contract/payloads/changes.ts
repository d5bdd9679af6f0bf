// Payload of `changes.json`: what a version adds to the one before it, and what it alters.
import { z } from 'zod'
import {
  flag,
  isoDate,
  list,
  listIfAny,
  named,
  number,
  numberOrNull,
  object,
  objectOrNull,
  strategyId,
  text,
  textOrNull,
  whole,
  word,
} from './field.ts'

/** Altered values that are listed one by one; beyond them only their number is given. */
export const MOST_LISTED = 100

const appended = objectOrNull('Dates that are new at the end, null where there are none.', {
  from: text('First new date.'),
  to: text('Last new date.'),
  n: whole('How many.'),
})

const seriesChanges = z.object({
  appended,
  restated_count: whole('Published values that differ, came in between, or are gone.'),
  restated: list(
    `The first ${MOST_LISTED} of them.`,
    z.object({
      t: isoDate('Day of the return; for a week its Sunday.'),
      old: numberOrNull('As published before, null where there was no value.'),
      new: numberOrNull('As published now, null where there is none any more.'),
    }),
  ),
})

/** Signs of what a trade did to the equity. */
export const TRADE_RESULTS = ['win', 'loss', 'breakeven'] as const

const publishedTrade = z.object({
  side: text('Direction of the position.'),
  entry_time: number('Instant of the entry, epoch milliseconds UTC.'),
  exit_time: number('Instant of the exit, epoch milliseconds UTC.'),
  entry_price: number('Fill price of the entry.'),
  exit_price: number('Fill price of the exit.'),
  return_pct: number('Return per unit of notional. Percent.'),
  result: word('Sign of what the trade did to the equity.', TRADE_RESULTS),
  exit_reason: text('Coarse category of the exit.'),
})

const changeValue = z.union([z.string(), z.number(), publishedTrade, z.null()])

const change = named('Change', {
  field: text('What differs.'),
  old: changeValue.describe('Value before.'),
  new: changeValue.describe('Value now.'),
})

const restatedTrade = publishedTrade.pick({ side: true, entry_time: true, exit_time: true }).extend({
  changes: list('What differs; `trade` where the whole trade came or went.', change),
})

export const strategyChanges = named('StrategyChanges', {
  id: strategyId,
  daily: seriesChanges.describe('Changes of the daily returns.'),
  weekly: seriesChanges.describe('Changes of the weekly returns.'),
  trades: object('Changes of the trades.', {
    appended: whole('Trades that closed after the window before.'),
    restated_count: whole('Published trades that differ, came in between, or are gone.'),
    restated: list(`The first ${MOST_LISTED} of them.`, restatedTrade),
  }),
  stats: list('Headline figures that moved; they move with every day.', change),
  catalogue: list(
    'Facts of the catalogue that differ. A different `base_risk_pct` is a restatement: it changes every figure at ' +
      'another risk level. So is a different `module_version`, which is a new history. An `ended` that is ' +
      'withdrawn or moved begins one too. `unpublished_trade_values` counts trades whose stop, leverage or account return differs.',
    change,
  ),
})

const definitionChange = named('DefinitionChange', {
  figure: text('The figures that are defined otherwise now.'),
  from: text('Definition before.'),
  to: text('Definition now.'),
  why: text('Reason of the change.'),
})

const filledGap = named('FilledGap', {
  of: text('The bars, as instrument and timeframe.'),
  from: text('UTC instant of the first bar that was missing.'),
  to: text('UTC instant of the last bar that was missing.'),
  reason: text('Why the gap had been accepted.'),
  strategies: list('Strategies whose history is made from these bars.', strategyId),
})

/** What a version changes only if its operator says so, and why, in public. */
export const DECLARED = ['restate', 'remove', 'same_rules', 'after_lost'] as const

export const declaration = named('Declaration', {
  what: word(
    '`restate`: published values of a strategy differ; `remove`: a strategy is gone; `same_rules`: the files of a ' +
      'module differ, and its rules are declared the same; `after_lost`: a version cannot be read any more.',
    DECLARED,
  ),
  of: text('The id of the strategy; of `after_lost` the version.'),
  reason: text('Why, as the operator states it.'),
})

export const changes = named('Changes', {
  version: text('The version, a UTC instant.'),
  previous: textOrNull('The version before, null for the first.'),
  history_restated: flag('Whether anything published before is altered or gone.'),
  added: list('Strategies that are new.', strategyId),
  removed: list('Strategies that are gone, their history with them.', strategyId),
  strategies: list('The strategies that both versions have.', strategyChanges),
  dataset: listIfAny(
    'Facts of the dataset, its funding, its accepted findings and its benchmarks that differ. Absent where it is not known.',
    change,
  ),
  definitions: listIfAny(
    'Figures that this version defines otherwise than the one before. They may differ on the same data, which is no restatement. Absent where it is not known.',
    definitionChange,
  ),
  filled_gaps: listIfAny(
    'Gaps that the version before listed as accepted and that have bars now: they explain restated values from ' +
      'their first day on. Absent where none was filled.',
    filledGap,
  ),
  rolled_back: object('What a version that was rolled back had shown otherwise; absent where nothing is.', {
    version: text('The version that was published, shown, and rolled back.'),
    removed: list('Strategies that it had, and that are gone.', strategyId),
    strategies: list('The strategies that both versions have.', strategyChanges),
  }).optional(),
  declared: listIfAny(
    'What the operator had to declare to publish this version. Absent where nothing.',
    declaration,
  ),
  not_compared: listIfAny(
    'Versions that were published and could not be read any more: what they altered is unknown, so ' +
      'history counts as restated. Absent where all could be read.',
    z.string(),
  ),
})

export type Changes = z.infer<typeof changes>
export type StrategyChanges = z.infer<typeof strategyChanges>
export type SeriesChanges = z.infer<typeof seriesChanges>
export type RestatedTrade = z.infer<typeof restatedTrade>
export type PublishedTrade = z.infer<typeof publishedTrade>
export type FilledGap = z.infer<typeof filledGap>
export type DefinitionChange = Readonly<z.infer<typeof definitionChange>>
export type Declaration = Readonly<z.infer<typeof declaration>>
export type Change = z.infer<typeof change>
