import { got, listed } from '../book/field.ts'
import { UnreadableFile } from '../table/lines.ts'
import type { Row } from '../table/rows.ts'
import { type Cell, type Format, isNamed, type Kind, reasonIn, toName, usesOf } from './format.ts'
import type { Statement } from './statement.ts'

/** Which column is what. */
export type Mapping = {
  readonly kind: Kind
  /** The name of the format, and its declaration; null for a plain table. */
  readonly name: string
  readonly format: Format | null
  /** Rows that are not data: those above the header; the header itself, and rows below it that belong to it. */
  readonly bannerRows: readonly number[]
  readonly headerRows: readonly number[]
  readonly width: number
  /** By role: the places of its columns from 0; and the names of all columns. */
  readonly places: ReadonlyMap<string, readonly number[]>
  readonly names: Row
  /** Columns that are not read, and why. */
  readonly unread: readonly { readonly column: string; readonly why: string }[]
}

type Probe = readonly { readonly cells: Row; readonly row: number }[]

/** A format, and what each column is in it; of a plain table null, and undefined for a column of no known name. */
type Fit = { readonly format: Format | null; readonly uses: readonly (string | undefined)[] }

/** What the format of a plain table is called. */
const PLAIN = 'table'

/** Some tools write a title and a date above the header. */
const MAX_BANNER_ROWS = 20

/** Throws. What is wrong with the columns is wrong from the first row on. */
function refuse(message: string, row: number | null = 1): never {
  throw new UnreadableFile(message, row)
}

/** Finds header and columns in the first rows of a table. Throws `UnreadableFile` if they are not beyond doubt. */
export function mapColumns(kind: Kind, probe: Probe, statement: Statement): Mapping {
  const unknown = Object.keys(statement.columns ?? {}).find(role => !Object.hasOwn(kind.roles, role))
  if (unknown !== undefined)
    refuse(
      `expected roles of ${Object.keys(kind.roles).join(', ')}, got ${got(unknown)}: correct --column (columns:)`,
    )
  if (probe.length === 0) refuse(`expected a table of ${kind.noun}, got an empty file`)
  const at = probe.slice(0, MAX_BANNER_ROWS).findIndex(({ cells }) => isHeader(kind, cells, statement))
  const { cells, row } = probe[Math.max(at, 0)]!
  const names = at < 0 ? cells.map((_, i) => String(i + 1)) : cells.map(name => name.trim())
  const { format, uses } = at < 0 ? orderOf(kind, probe, statement) : formatOf(kind, names, statement, row)
  const own = withStated(uses, names, statement)
  const places = new Map<string, number[]>()
  for (const [i, use] of own.entries())
    if (use !== undefined && reasonIn(use) === undefined) places.set(use, [...(places.get(use) ?? []), i])
  const lacking = kind.required.find(role => !places.has(role))
  if (lacking !== undefined) refuse(explainMissing(kind, lacking, names), row)
  const above = at < 0 ? [] : probe.slice(0, at)
  const stray = above.find(
    each => each.cells.length === names.length || each.cells.filter(isNumber).length > 1,
  )
  if (stray !== undefined)
    refuse(
      `expected a header, or a banner of fewer fields, above row ${row}, got a row of as many`,
      stray.row,
    )
  const isBelow = (each: Row): boolean =>
    format?.below?.test(each[0]!.trim()) === true && !each.slice(1).some(isNumber)
  const below = at < 0 ? [] : probe.slice(at + 1).filter(each => isBelow(each.cells))
  const data = probe.slice(at + 1 + below.length).map(each => each.cells)
  const unnamed = statement.columns === undefined ? 'columns by name' : 'columns as stated'
  return {
    ...{ kind, format, places, names, width: names.length, name: format?.name ?? unnamed },
    ...{
      bannerRows: above.map(each => each.row),
      headerRows: at < 0 ? [] : [row, ...below.map(each => each.row)],
    },
    unread: unreadOf(kind, own, names, data),
  }
}

/** Whether a row has the names of a format, or of every column that is needed and stated. */
function isHeader(kind: Kind, cells: Row, { format, columns = {} }: Statement): boolean {
  if (cells.filter(isNumber).length > 1) return false
  const plain = cells.map(toName)
  if (chosen(kind, format).some(each => usesOf(each, plain) !== null)) return true
  const isThere = (role: string): boolean =>
    columns[role] === undefined
      ? namedAt(kind, role, cells).length > 0
      : placesOf(columns[role], cells).length > 0
  const stated = Object.keys(columns).filter(role => typeof columns[role] === 'string')
  return !cells.some(isNumber) && [...kind.required, ...stated].every(isThere)
}

const isNumber = (cell: string): boolean => /^[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?%?$/.test(cell.trim())

/** The formats that are not ruled out. Formats of one form have one declaration: `yahoo/freqtrade`. */
const chosen = ({ formats }: Kind, format: string | undefined): readonly Format[] =>
  formats.filter(({ name }) => format === undefined || [name, ...name.split('/')].includes(format))

/** The one format that has the columns of a header, or the plain table that they make. */
function formatOf(kind: Kind, names: Row, { format, columns = {} }: Statement, row: number): Fit {
  const [formats, plain] = [chosen(kind, format), names.map(toName)]
  if (format !== undefined && format !== PLAIN && formats.length === 0)
    refuse(
      `expected a format of ${[PLAIN, ...new Set(kind.formats.map(({ name }) => name))].join(', ')}, got ${got(format)}: correct --format (format:)`,
    )
  const fits = formats.flatMap((each): Fit[] => {
    const uses = usesOf(each, plain)
    return uses === null ? [] : [{ format: each, uses }]
  })
  if (new Set(fits.map(fit => [fit.format?.times, ...fit.uses].join())).size > 1)
    refuse(
      `expected one format, got ${listed(fits.map(fit => fit.format!.name))}: choose with --format (format:)`,
      row,
    )
  if (fits[0] !== undefined) return fits[0]
  if (formats.length > 0 && format !== undefined)
    refuse(
      `expected the columns of ${format}, got ${shown(names)}: leave out --format (format:), or state --format ${PLAIN} and the columns`,
      row,
    )
  const uses = new Array<string | undefined>(names.length).fill(undefined)
  for (const role of Object.keys(kind.roles).filter(each => columns[each] === undefined))
    for (const place of namedAt(kind, role, names)) uses[place] ??= role
  return { format: null, uses }
}

/** Roles whose columns are added. */
const ADDED = ['fees', 'funding']

/** The places of the preferred name of a role in a plain table. Of several of one preference none is chosen. */
function namedAt({ roles }: Kind, role: string, names: Row): readonly number[] {
  for (const alternative of roles[role]!.split(' ')) {
    const found = names.flatMap((name, i) => (isNamed(alternative, name) ? [i] : []))
    if (found.length > 1 && !ADDED.includes(role))
      refuse(
        `${role}: expected one column, got ${listed(found.map(i => names[i]!))}: state the right one with --column ${role}=NAME (columns:)`,
      )
    if (found.length > 0) return found
  }
  return []
}

/** What is stated takes the place of what was recognised. */
function withStated(
  uses: Fit['uses'],
  names: Row,
  { columns = {}, ignore = [] }: Statement,
): (string | undefined)[] {
  const own = uses.map(use => (use !== undefined && columns[use] !== undefined ? undefined : use))
  const set = (column: string | number, use: string): void => {
    const places = placesOf(column, names)
    if (places.length === 0)
      refuse(`expected one column ${got(column)}, got none or several among ${listed(names)}`)
    const other = places
      .map(place => own[place])
      .find(each => each !== undefined && columns[each] !== undefined)
    if (other !== undefined)
      refuse(`${use}: expected a column of its own, got that of ${other}: correct --column (columns:)`)
    for (const place of places) own[place] = use
  }
  for (const [role, column] of Object.entries(columns)) set(column, role)
  for (const column of ignore)
    set(names.includes(column) || !/^\d+$/.test(column) ? column : Number(column), '(as stated)')
  return own
}

/** The places of `NAME`, a number from 1, or `DATE+TIME`; none if a name is not there, or there twice. */
function placesOf(column: string | number, names: Row): readonly number[] {
  const found = names.flatMap((name, i) => (column === i + 1 || name.trim() === column ? [i] : []))
  if (found.length > 0 || !String(column).includes('+')) return found.length === 1 ? found : []
  const parts = String(column)
    .split('+')
    .map(part => placesOf(part.trim(), names))
  return parts.every(part => part.length === 1) ? parts.flat() : []
}

/** Columns that are not read. One of a plain table that could change a figure ends the import. */
function unreadOf(kind: Kind, uses: Fit['uses'], names: Row, data: readonly Row[]): Mapping['unread'] {
  const cellsAt = (i: number): string[] => data.map(cells => cells[i] ?? '')
  const open = names.filter((name, i) => uses[i] === undefined && kind.matters(toName(name), cellsAt(i)))
  if (open.length > 0)
    refuse(
      `expected to know what ${listed(open.map(name => got(name)))} ${open.length === 1 ? 'is' : 'are'}, because such a column can change a figure: ` +
        'state its role with --column ROLE=NAME (columns:), t=DATE+TIME for a time in two, or --ignore NAME (ignore:), which is published',
    )
  return names.flatMap((column, i) => {
    const why = uses[i] === undefined ? 'not known' : reasonIn(uses[i])
    return why === undefined ? [] : [{ column: column || `column ${i + 1}`, why }]
  })
}

function explainMissing({ required, noun, looksLike }: Kind, role: string, names: Row): string {
  const other = looksLike?.(names)
  if (other) return `expected ${noun}, got what looks like ${other}`
  return (
    `expected columns for ${required.join(', ')} of ${noun}, got no column for ${role} in ${shown(names)}: ` +
    `state the names of the file with --column ${role}=NAME (columns: {${role}: NAME})`
  )
}

const shown = (names: Row): string => got(names.join(), 200)

/** Without a header: the one order of columns in which every cell can be what its column is, or what is stated. */
function orderOf(kind: Kind, probe: Probe, { format, columns }: Statement): Fit {
  const { cells, row } = probe[0]!
  const header = probe.find(each => each.cells.length === probe.at(-1)!.cells.length)!
  if (!cells.some(isNumber)) {
    const absent = Object.values(columns ?? {}).find(name => placesOf(name, header.cells).length === 0)
    const missing = kind.required.find(
      role => columns?.[role] === undefined && namedAt(kind, role, header.cells).length === 0,
    )
    const lost = `expected one column ${got(absent)}, got none or several among ${listed(header.cells)}`
    refuse(
      absent === undefined ? explainMissing(kind, missing ?? kind.required[0]!, header.cells) : lost,
      header.row,
    )
  }
  // Columns whose places are stated need no names.
  if (columns !== undefined) return { format: null, uses: cells.map(() => undefined) }
  const fits = chosen(kind, format)
    .filter(({ hasHeader, columns: { length } }) => !hasHeader && length === cells.length)
    .map((each): Fit => ({ format: each, uses: each.columns.map(({ use }) => use) }))
    .filter(({ uses }) => probe.every(({ cells: own }) => canBe(kind, own, uses)))
  if (fits[0] !== undefined && fits.length === 1) return fits[0]
  const problem =
    fits.length === 0
      ? `expected a header, or a known order of columns of ${kind.noun}, got ${shown(cells)}`
      : `expected one order of columns that fits, got ${listed(fits.map(fit => fit.format!.name))}: name the format with --format (format:)`
  return refuse(
    `${problem}; or state the place of each column with --column t=1 --column o=2 ... (columns: {t: 1, o: 2, ...})`,
    row,
  )
}

/** Rows of another length are reported when they are read, and rows of blanks dropped. */
function canBe(kind: Kind, row: Row, uses: Fit['uses']): boolean {
  if (row.length !== uses.length) return true
  const cell: Cell = role => row[uses.indexOf(role)]?.trim() ?? ''
  const isBlank = kind.required.slice(1).every(role => cell(role) === '')
  return (
    isBlank ||
    uses.every((use = '', i) => kind.fits(use, role => (role === use ? row[i]!.trim() : cell(role))))
  )
}
