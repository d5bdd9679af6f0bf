import { z } from 'zod'
import type { Bars } from '#core/replay/bars.ts'
import { flag } from '../book/catalogue.ts'
import { field } from '../book/field.ts'
import { parseZone } from '../book/zone.ts'

// What the user of a file states about it: options of `highwater import`.

const oneOf = <Word extends string>(words: readonly [Word, ...Word[]], description: string) =>
  field(z.enum(words).optional(), description, `one of ${words.join(', ')}`)

const ofEveryFile = {
  format: z.string().optional().meta({
    description: 'The name of the format, which is found without; `table` for columns by their names.',
  }),
  tz: field(
    z
      .string()
      .refine(text => parseZone(text) !== null)
      .optional(),
    'The zone of times that have none.',
    'UTC, an offset such as +08:00, or a name such as Europe/Amsterdam',
  ),
  columns: z
    .record(z.string(), z.union([z.string(), z.int()]))
    .optional()
    .meta({
      description:
        'What columns are: the role, and the name in the header, the place from 1 on, or DATE+TIME for two columns that are joined.',
    }),
  ignore: z.array(z.string()).optional().meta({
    description: 'Columns that are not read although they could change a figure.',
  }),
}

export const STATEMENTS = {
  bars: {
    ...ofEveryFile,
    times: oneOf(['open', 'close'], 'Whether the times are the opens or the closes of bars.'),
    duplicates: oneOf(['first', 'last', 'largest-volume'], 'Which of the rows of one time counts.'),
    drop_last: flag('Whether the last bar is left out, because it was not over when the file was made.'),
    drop_impossible: flag('Whether bars whose prices contradict each other are left out, which leaves gaps.'),
  },
  ledger: {
    ...ofEveryFile,
    results: oneOf(['after-costs', 'before-costs'], 'Whether fees and funding are in the results already.'),
    capital: field(
      z.number().gt(0).optional(),
      'The account at the start, in its currency; it makes fractions of the amounts in the file.',
      'an amount above 0',
    ),
  },
  returns: {
    ...ofEveryFile,
    results: oneOf(['per-day'], 'That values which look like a sum since the start are returns of days.'),
    unit: field(
      z.enum(['fraction', 'percent']),
      'What a return of 1 means: a fraction (+100 %) or a percent.',
      'fraction or percent',
    ),
  },
}

type StatementOf<Shape extends z.ZodRawShape> = z.infer<z.ZodObject<Shape>>
export type Statement = StatementOf<typeof ofEveryFile>
export type BarsStatement = StatementOf<typeof STATEMENTS.bars>
export type ReturnsStatement = StatementOf<typeof STATEMENTS.returns>

/** What is stated about a ledger, and what else is known of it. */
export type LedgerRules = StatementOf<typeof STATEMENTS.ledger> & {
  /** Where they are known, prices are checked against them. */
  readonly bars: Bars | null
  /** The commission of a fill in basis points, null if the file has to show it. */
  readonly commission_bps: number | null
  /** Whether the trades are of several instruments or contracts: open ones are not valued, and results need not follow from prices. */
  readonly realised: boolean
  /** Whether it is stated that the instrument has no funding. */
  readonly isUnfunded: boolean
}

/** All that is stated about a file, as it is published with the data: `format: table; ignore: [Swap]`; null if nothing is. */
export function spellStatement(spec: Readonly<Record<string, unknown>>): string | null {
  const keys = [...new Set(Object.values(STATEMENTS).flatMap(each => Object.keys(each)))]
  const stated = keys.filter(key => spec[key] !== undefined && spec[key] !== false)
  const spell = (value: unknown): string =>
    typeof value === 'object' ? JSON.stringify(value).replaceAll('"', '') : String(value)
  return stated.length === 0 ? null : stated.map(key => `${key}: ${spell(spec[key])}`).join('; ')
}
