import { got, listed } from '../book/field.ts'
import { UnreadableFile } from './lines.ts'
import type { Row } from './rows.ts'

/** What a table may have, and under which names. A role is what a column means, such as `o`, the open. */
export type TableKind = {
  /** What a row is, for messages. */
  readonly noun: string
  /** By role: patterns of the names that `toName` gives, separated by blanks, preferred ones first. */
  readonly roles: Readonly<Record<string, string>>
  readonly required: readonly string[]
  /** Formats by the beginning of their header, names as `toName` writes them; the first that fits is named. */
  readonly formats: readonly (readonly [name: string, header: RegExp])[]
  /** Formats without a header: the roles in order, `-` for what is not read. */
  readonly orders: readonly (readonly [name: string, roles: string])[]
  /** Whether rows can be what an order of columns makes of them. */
  readonly fits?: (field: (role: string) => string) => boolean
  /** A row of data has at least as many numbers; a row above the first of them is a header or a banner. */
  readonly leastNumbers: number
  /** Whether the last row may be cut off: it is dropped, or it repeats what another row has. */
  readonly mayEndOpen?: true
}

export type Mapping = {
  readonly kind: TableKind
  /** The name of the format. */
  readonly format: string
  /** Rows before the first row of data: the header, and the banner lines above it. */
  readonly headerRows: number
  readonly bannerRows: number
  readonly width: number
  readonly places: ReadonlyMap<string, number>
  /** Columns of the file that are not read. */
  readonly ignored: readonly string[]
}

export type MappingRequest = {
  readonly as?: string | undefined
  /** Columns by role that an operator states: the name in the header, or the place from 1 on. */
  readonly columns?: Readonly<Record<string, string | number>> | undefined
}

/** Columns of an unknown format that the aliases map without doubt, or that the operator states. */
const BY_NAMES = 'columns by name'
const AS_STATED = 'columns as stated'

/** yfinance has three header lines, and some exchanges a banner or two. */
const MAX_HEADER_ROWS = 20

/** Throws. What is wrong with the columns is wrong from the first row on. */
function refuse(message: string, row = 1): never {
  throw new UnreadableFile(message, row)
}

/** Finds header and columns in the first rows of a table. Throws `UnreadableFile` if they are not beyond doubt. */
export function mapColumns(
  kind: TableKind,
  probe: readonly { readonly cells: Row; readonly row: number }[],
  request: MappingRequest,
): Mapping {
  const { as, columns = {} } = request
  const roles = Object.keys(kind.roles)
  const unknown = Object.keys(columns).find(role => !roles.includes(role))
  if (unknown !== undefined)
    refuse(`expected roles of ${roles.join(', ')}, got ${got(unknown)}: correct --column (columns:)`)
  const found = probe.findIndex(({ cells }) => cells.filter(isNumber).length >= kind.leastNumbers)
  const above = found < 0 ? probe : probe.slice(0, found)
  // Neither a header nor a banner begins with a number.
  const stray = found < 0 ? undefined : above.find(({ cells: [first = ''] }) => /^[-+]?\d/.test(first.trim()))
  if (stray !== undefined)
    refuse('expected a row of data as those below it, got one without its numbers', stray.row)
  const header = above.map(({ cells }) => cells)
  const width = (found < 0 ? header.at(-1) : probe[found]!.cells)?.length ?? 0
  if (width === 0) refuse(`expected a table of ${kind.noun}, got an empty file`)
  if (header.length > MAX_HEADER_ROWS)
    refuse(`expected ${kind.noun}, got no row of numbers: ${shown(header)}`)
  const mapped =
    header.length === 0
      ? byOrder(
          kind,
          probe.map(({ cells }) => cells),
          request,
        )
      : byHeader(kind, header, width, request)
  if (as !== undefined && !isNamed(mapped.format, as))
    refuse(`expected the format ${as}, got ${mapped.format}: leave out --as (as:) or name the right one`)
  const bannerRows = header.filter(row => row.length < width).length
  return { kind, headerRows: header.length, bannerRows, width, ...mapped }
}

/** Formats of one form have one row in the table of formats: `yahoo/freqtrade`. */
const isNamed = (format: string, as: string): boolean => format.split('/').includes(as)

const isNumber = (cell: string): boolean => /^[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?%?$/.test(cell.trim())

const shown = (rows: readonly Row[]): string => got(rows.at(-1)?.join(), 200)

/** A name without case, blanks and marks; one letter keeps its case, because `t` and `T` are two columns. */
const toName = (cell: string): string =>
  cell.trim().length === 1 ? cell.trim() : cell.toLowerCase().replaceAll(/[\s_()-]/g, '')

type Mapped = Pick<Mapping, 'format' | 'places' | 'ignored'>

/** The names that stand above a column: header lines are read together. */
type Names = readonly string[]

function byHeader(kind: TableKind, header: readonly Row[], width: number, request: MappingRequest): Mapped {
  const named = header.filter(row => row.length === width)
  const columns = Array.from({ length: width }, (_, i) =>
    named.map(row => row[i]!.trim()).filter(name => name !== ''),
  )
  const places = new Map<string, number>()
  const isTaken = (place: number): boolean => [...places.values()].includes(place)
  for (const [role, names] of Object.entries(kind.roles)) {
    const stated = request.columns?.[role]
    const free = columns.map((own, i) => (isTaken(i) ? [] : own))
    const place = stated === undefined ? placeOf(role, free, names) : statedPlace(role, columns, stated)
    if (place === undefined && kind.required.includes(role)) explainMissing(kind, role, header)
    if (place === undefined) continue
    if (isTaken(place)) refuse(`${role}: expected a column of its own, got one of another role`)
    places.set(role, place)
  }
  const ignored = columns.flatMap(([name = 'a column without a name'], i) => (isTaken(i) ? [] : [name]))
  const lines = named.map(row => row.map(toName).join())
  const format = kind.formats.find(([, pattern]) => lines.some(line => pattern.test(line)))?.[0] ?? BY_NAMES
  return { format: request.columns === undefined ? format : AS_STATED, places, ignored }
}

/** The place of the column of these names, if there is one. Of several, the preferred one. */
function placeOf(role: string, columns: readonly Names[], names: string): number | undefined {
  for (const alternative of names.split(' ')) {
    const pattern = new RegExp(`^(?:${alternative})$`)
    const found = columns.flatMap((own, i) => (own.some(name => pattern.test(toName(name))) ? [i] : []))
    if (found.length > 1)
      refuse(
        `${role}: expected one column, got ${listed(found.map(i => columns[i]![0]!))}: state the right one with --column (columns:)`,
      )
    if (found.length === 1) return found[0]
  }
  return undefined
}

function statedPlace(role: string, columns: readonly Names[], stated: string | number): number | undefined {
  const found = columns.flatMap((names, i) => (stated === i + 1 || names.includes(String(stated)) ? [i] : []))
  const known = listed(columns.map(([name], i) => name ?? `column ${i + 1}`))
  if (found.length !== 1)
    refuse(`${role}: expected one column ${got(stated)}, got ${found.length || 'none'} among ${known}`)
  return found[0]
}

const explainMissing = ({ required, noun }: TableKind, role: string, header: readonly Row[]): never =>
  refuse(
    `expected columns for ${required.join(', ')} of ${noun}, got no column for ${role} in ${shown(header)}: ` +
      `state the names of the file with --column ${role}=NAME (columns: {${role}: NAME})`,
  )

/** Without a header: the one known order of as many columns by which the rows are possible. */
function byOrder(kind: TableKind, rows: readonly Row[], { as, columns }: MappingRequest): Mapped {
  const width = rows[0]!.length
  if (columns !== undefined) {
    const places = new Map(Object.entries(columns).map(([role, place]) => [role, Number(place) - 1]))
    const isSound = [...places.values()].every(place => place >= 0 && place < width)
    if (isSound && kind.required.every(role => places.has(role)))
      return { format: AS_STATED, places, ignored: [] }
    refuse(
      `expected the place of each column from 1 to ${width}, because the file has no header, got ${JSON.stringify(columns)}`,
    )
  }
  const fitting = kind.orders
    .filter(([name]) => as === undefined || isNamed(name, as))
    .map(([format, roles]) => ({ format, roles: roles.split(' ') }))
    .filter(({ roles }) => roles.length === width && rows.every(row => canBe(kind, row, roles)))
  const [order] = fitting
  if (order !== undefined && fitting.length === 1) {
    const places = order.roles.flatMap((role, i) => (role === '-' ? [] : [[role, i] as const]))
    return { format: order.format, places: new Map(places), ignored: [] }
  }
  const problem =
    order === undefined
      ? `expected a header, or a known order of columns of ${kind.noun}, got ${got(rows[0]!.join(), 200)}`
      : `expected one order of columns that fits, got ${listed(fitting.map(({ format }) => format))}: name the format with --as (as:)`
  return refuse(
    `${problem}; or state the place of each column with --column t=1 --column o=2 ... (columns: {t: 1, o: 2, ...})`,
  )
}

/** Rows of another length are reported when they are read. */
const canBe = ({ fits }: TableKind, row: Row, roles: readonly string[]): boolean =>
  row.length !== roles.length || fits === undefined || fits(role => row[roles.indexOf(role)] ?? '')
