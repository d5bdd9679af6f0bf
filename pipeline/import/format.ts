// A format is a declaration: every column of its files, and for each one what it is read as, what it is checked against, or why
// it is not read.

/** What files of one kind may hold. A role is what a column means, such as `o`, the open. */
export type Kind = {
  /** What a row is, for messages. */
  readonly noun: string
  /** By role: the names in a plain table, as patterns of what `toName` gives, separated by blanks, preferred ones first. */
  readonly roles: Readonly<Record<string, string>>
  /** Roles that are compared with the others and become no part of the data: what each is. */
  readonly checked: Readonly<Record<string, string>>
  readonly required: readonly string[]
  readonly formats: readonly Format[]
  /** Whether a text can be what a role says, beside the other cells of its row: tests the columns of a file without header. */
  readonly fits: (role: string, cell: Cell) => boolean
  /** Whether a column of a plain table that is not read could change a figure. */
  readonly matters: (name: string, cells: readonly string[]) => boolean
  /** What a file without the required columns looks like, if it is a known other thing. */
  readonly looksLike?: (names: readonly string[]) => string | null
  /** Whether files may have millions of rows, of which the first ones show the columns. */
  readonly mayBeLong?: true
  /** Whether the last row may be cut off: it is dropped, or it repeats what another row has. */
  readonly mayEndOpen?: true
}

/** The text in the column of a role, without blanks around it; blank if the file lacks the column. */
export type Cell = (role: string) => string

export type Format = {
  readonly name: string
  /** In their order, if the files have no header. */
  readonly columns: readonly Column[]
  readonly hasHeader: boolean
  /** Of bars: what the time of a row is. */
  readonly times?: 'open' | 'close'
  /** Of trades: what a result is. Without it the prices show it. */
  readonly results?: 'after-costs'
  /** The first cell of rows below the header that belong to it. */
  readonly below?: RegExp
}

/** `name` is a pattern of what `toName` gives; a file may lack a `?` column, and have any number of a `*` one. */
type Column = { readonly name: string; readonly many: string; readonly fits: RegExp; readonly use: string }

/**
 * A format of a text that has `name: use` of each column, or, without a header, its use alone, on lines or between semicolons. A
 * use is a role, or in parentheses why the column is not read.
 */
export function declare(name: string, text: string, statements: Partial<Format> = {}): Format {
  const parts = text.trim().split(/\s*[;\n]\s*/)
  const columns = parts.map((part): Column => {
    const [, pattern = '', many = '', use = part] = /^(\S*?)([?*]?): (.*)$/.exec(part) ?? []
    return { name: pattern, many, fits: new RegExp(`^(?:${pattern})$`), use }
  })
  return { name, columns, hasHeader: parts[0]!.includes(': '), ...statements }
}

/** A name without case, blanks and marks; one letter keeps its case, because `t` and `T` are two columns. */
export const toName = (text: string): string =>
  text.trim().length === 1 ? text.trim() : text.toLowerCase().replaceAll(/[\s_()<>.-]/g, '')

/** Whether a name is one that a pattern of a role or of a format means. */
export const isNamed = (pattern: string, name: string): boolean =>
  new RegExp(`^(?:${pattern})$`).test(toName(name))

/** Why a column is not read, if that is what it is. */
export const reasonIn = (use: string): string | undefined => /^\((.*)\)$/.exec(use)?.[1]

/** The numbers of rows that pandas and R write. */
const INDEX: Column = { name: '', many: '*', fits: /^(?:unnamed:0)?$/, use: '(the index of the table)' }

/** What each column of a header, by the names that `toName` gives, is in a format; null unless each fits, and none is missing. */
export function usesOf({ columns, hasHeader }: Format, names: readonly string[]): readonly string[] | null {
  const left = new Set([...columns, INDEX])
  const uses = names.flatMap(name => {
    const column = [...left].find(({ fits }) => fits.test(name))
    if (column === undefined) return []
    if (column.many !== '*') left.delete(column)
    return [column.use]
  })
  const isWhole = [...left].every(({ many }) => many !== '')
  return hasHeader && isWhole && uses.length === names.length ? uses : null
}
