import { z } from 'zod'
import type { Bars } from '#core/replay/bars.ts'
import { parseZone, ZONE_FORM } from '../book/zone.ts'

// What the user of a file states about it: the keys of an entry of the catalogue, and the options of `highwater import`.

/** A book is whole by itself: its files are in its folder. */
const pathInside = z.string().regex(/^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))./)

const oneOf = <Word extends string>(words: readonly [Word, ...Word[]], description: string) =>
  z
    .enum(words)
    .optional()
    .meta({ description, expected: `one of ${words.join(', ')}` })

/** What may be stated about every file. */
const statements = {
  format: z.string().optional().meta({
    description: 'The name of the format, which is found without; `table` for columns by their names.',
    expected: 'the name of a format',
  }),
  tz: z
    .string()
    .refine(text => parseZone(text) !== null)
    .optional()
    .meta({ description: 'The zone of times that have none.', expected: ZONE_FORM }),
  columns: z
    .record(z.string(), z.union([z.string(), z.int().min(1)]))
    .optional()
    .meta({
      description:
        'What columns are: the role, and the name in the header, the place from 1 on, or DATE+TIME for two columns that are joined.',
      expected: 'a map of roles to names or places of columns, such as {t: Datum, c: 5}',
    }),
  ignore: z.array(z.string()).optional().meta({
    description: 'Columns that are not read although they could change a figure.',
    expected: 'a list of names of columns',
  }),
}

export const flag = (description: string, isSet = false) =>
  z.boolean().default(isSet).meta({ description, expected: 'true or false' })

export const barsStatements = {
  ...statements,
  times: oneOf(['open', 'close'], 'Whether the times are the opens or the closes of bars.'),
  duplicates: oneOf(['first', 'last', 'largest-volume'], 'Which of the rows of one time counts.'),
  drop_last: flag('Whether the last bar is left out, because it was not over when the file was made.'),
  drop_impossible: flag('Whether bars whose prices contradict each other are left out, which leaves gaps.'),
}

export const ledgerStatements = {
  ...statements,
  results: oneOf(['after-costs', 'before-costs'], 'Whether fees and funding are in the results already.'),
  capital: z.number().gt(0).optional().meta({
    description: 'The account at the start, in its currency; it makes fractions of the amounts in the file.',
    expected: 'an amount above 0',
  }),
}

export const returnsStatements = {
  ...statements,
  results: oneOf(['per-day'], 'That values which look like a sum since the start are returns of days.'),
  unit: z.enum(['fraction', 'percent']).meta({
    description: 'What a return of 1 means: a fraction (+100 %) or a percent.',
    expected: 'fraction or percent',
  }),
}

/** A history is in one file. */
const path = pathInside
  .transform(only => [only])
  .meta({
    description: 'The file, inside the book.',
    expected: 'one path inside the book',
  })

const paths = z.union([path, z.array(pathInside).min(1)]).meta({
  description: 'The file, inside the book, or a list of files.',
  expected: 'a path inside the book, or a list of them',
})

// Files from elsewhere that stand for a table of the book: an entry of `bars`, and the `file` of a strategy.
export const barsFileShape = { path: paths, ...barsStatements }
export const ledgerFileShape = { path, ...ledgerStatements }
export const returnsFileShape = { path, ...returnsStatements }

export type Statement = z.infer<z.ZodObject<typeof statements>>
export type LedgerSpec = z.infer<z.ZodObject<typeof ledgerFileShape>>
export type ReturnsSpec = z.infer<z.ZodObject<typeof returnsFileShape>>
export type BarsSpec = z.infer<z.ZodObject<typeof barsFileShape>>

/** What is stated about a ledger, and what else is known of it. */
export type LedgerRules = LedgerSpec & {
  /** Where they are known, times without a zone and prices are checked against them. */
  readonly bars: Bars | null
  /** The commission of a fill in basis points, null if the file has to show it. */
  readonly commission_bps: number | null
  /** Whether the trades are of several instruments or contracts: open ones are not valued, and results need not follow from prices. */
  readonly realised: boolean
  /** Whether it is stated that the instrument has no funding. */
  readonly isUnfunded: boolean
}

/**
 * `format: table; ignore: [Swap]`: all that is stated about a file, as it is published with the data; null if nothing is. Other fields
 * of the record do not count.
 */
export function spellStatement(spec: Readonly<Record<string, unknown>>): string | null {
  const all = { ...barsStatements, ...ledgerStatements, ...returnsStatements }
  const stated = Object.keys(all).filter(key => spec[key] !== undefined && spec[key] !== false)
  const spell = (value: unknown): string =>
    typeof value === 'object' ? JSON.stringify(value).replaceAll('"', '') : String(value)
  return stated.length === 0 ? null : stated.map(key => `${key}: ${spell(spec[key])}`).join('; ')
}
