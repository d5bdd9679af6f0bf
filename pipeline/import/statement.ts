import type { Bars } from '#core/replay/bars.ts'

// What the user of a file states about it: options of `highwater import`.

export type Statement = {
  /** The name of the format, which is found without; `table` for columns by their names. */
  readonly format?: string | undefined
  /** The zone of times that have none. */
  readonly tz?: string | undefined
  /** What columns are: the role, and the name in the header, the place from 1 on, or DATE+TIME for two that are joined. */
  readonly columns?: Readonly<Record<string, string | number>> | undefined
  /** Columns that are not read although they could change a figure. */
  readonly ignore?: readonly string[] | undefined
}

/** What is stated about a ledger, and what else is known of it. */
export type LedgerRules = Statement & {
  /** Whether fees and funding are in the results already. */
  readonly results?: 'after-costs' | 'before-costs' | undefined
  /** The account at the start, in its currency. */
  readonly capital?: number | undefined
  /** Where they are known, prices are checked against them. */
  readonly bars: Bars | null
  /** The commission of a fill in basis points, null if the file has to show it. */
  readonly commission_bps: number | null
  /** Whether the trades are of several instruments or contracts: open ones are not valued, and results need not follow from prices. */
  readonly realised: boolean
  /** Whether it is stated that the instrument has no funding. */
  readonly isUnfunded: boolean
}

/** The order in which statements are published. */
const STATEMENTS = [
  ...['format', 'tz', 'columns', 'ignore', 'times', 'duplicates', 'drop_last', 'drop_impossible', 'results'],
  ...['capital', 'unit'],
]

/** All that is stated about a file, as it is published with the data: `format: table; ignore: [Swap]`; null if nothing is. */
export function spellStatement(spec: Readonly<Record<string, unknown>>): string | null {
  const stated = STATEMENTS.filter(key => spec[key] !== undefined && spec[key] !== false)
  const spell = (value: unknown): string =>
    typeof value === 'object' ? JSON.stringify(value).replaceAll('"', '') : String(value)
  return stated.length === 0 ? null : stated.map(key => `${key}: ${spell(spec[key])}`).join('; ')
}
