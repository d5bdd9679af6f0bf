import { got, listed } from '../book/field.ts'
import type { Row } from './rows.ts'

/** What a table may have, and under which names. A role is what a column means, such as `o`, the open. */
export type TableKind = {
  /** What a row is, for messages. */
  readonly noun: string
  readonly roles: Readonly<Record<string, RoleRule>>
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

/** `names` are patterns of `toName`, separated by blanks, preferred ones first. */
type RoleRule = { readonly names: string; readonly required?: true }

/** Columns by role that an operator states: the name in the header, or the place from 1 on. */
export type StatedColumns = Readonly<Record<string, string | number>>

export type Mapping = {
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
  readonly columns?: StatedColumns | undefined
}

/** Columns of an unknown format that the aliases map without doubt, or that the operator states. */
const BY_NAMES = 'columns by name'
const AS_STATED = 'columns as stated'

/** Finds header and columns in the first rows of a table. Returns a sentence if they are not beyond doubt. */
export function mapColumns(kind: TableKind, rows: readonly Row[], request: MappingRequest): Mapping | string {
  const unknown = Object.keys(request.columns ?? {}).find(role => !Object.hasOwn(kind.roles, role))
  if (unknown !== undefined)
    return `expected roles of ${Object.keys(kind.roles).join(', ')}, got ${got(unknown)}: correct --column (columns:)`
  const found = rows.findIndex(row => row.filter(isNumber).length >= kind.leastNumbers)
  const header = rows.slice(0, found < 0 ? rows.length : found)
  const width = found < 0 ? (header.at(-1)?.length ?? 0) : rows[found]!.length
  if (width === 0) return `expected a table of ${kind.noun}, got an empty file`
  if (header.length > MAX_HEADER_ROWS) return `expected ${kind.noun}, got no row of numbers: ${shown(header)}`
  const bannerRows = header.filter(row => row.length < width).length
  const frame = { headerRows: header.length, bannerRows, width }
  const mapped = header.length === 0 ? byOrder(kind, rows, request) : byHeader(kind, header, width, request)
  if (typeof mapped === 'string') return mapped
  if (request.as !== undefined && !isNamed(mapped.format, request.as))
    return `expected the format ${request.as}, got ${mapped.format}: leave out --as (as:) or name the right one`
  return { ...frame, ...mapped }
}

/** The row above the first row of data that is no header, because it begins with a number; -1 if there is none. */
export function strayRow({ leastNumbers }: TableKind, rows: readonly Row[]): number {
  const found = rows.findIndex(row => row.filter(isNumber).length >= leastNumbers)
  return rows.slice(0, Math.max(found, 0)).findIndex(([first = '']) => /^[-+]?\d/.test(first.trim()))
}

/** Formats of one form have one row in the table of formats: `yahoo/freqtrade`. */
const isNamed = (format: string, as: string): boolean => format.split('/').includes(as)

/** yfinance has three header lines, and some exchanges a banner or two. */
const MAX_HEADER_ROWS = 20

const isNumber = (cell: string): boolean => /^[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?%?$/.test(cell.trim())

const shown = (rows: readonly Row[]): string => got(rows.at(-1)?.join(), 200)

/** A name without case, blanks and marks; one letter keeps its case, because `t` and `T` are two columns. */
const toName = (cell: string): string =>
  cell.trim().length === 1 ? cell.trim() : cell.toLowerCase().replaceAll(/[\s_()-]/g, '')

type Mapped = Pick<Mapping, 'format' | 'places' | 'ignored'>

/** Header lines are read together: a column has every name that stands above it. */
function byHeader(
  kind: TableKind,
  header: readonly Row[],
  width: number,
  request: MappingRequest,
): Mapped | string {
  const named = header.filter(row => row.length === width)
  const columns = Array.from({ length: width }, (_, i) =>
    named.map(row => row[i]!.trim()).filter(name => name !== ''),
  )
  const places = new Map<string, number>()
  for (const [role, { names, required }] of Object.entries(kind.roles)) {
    const stated = request.columns?.[role]
    const isTaken = (place: number): boolean => [...places.values()].includes(place)
    const free = columns.map((own, i) => (isTaken(i) ? [] : own))
    const place = stated === undefined ? placeOf(free, names) : statedPlace(columns, stated)
    if (typeof place === 'string') return `${role}: ${place}`
    if (place < 0 && required) return explainMissing(kind, role, header)
    if (isTaken(place)) return `${role}: expected a column of its own, got one of another role`
    if (place >= 0) places.set(role, place)
  }
  const unread = columns.filter((_, i) => ![...places.values()].includes(i))
  const ignored = unread.map(names => names[0] ?? 'a column without a name')
  return { format: formatOf(kind, named, request), places, ignored }
}

function formatOf(kind: TableKind, named: readonly Row[], { columns }: MappingRequest): string {
  if (columns !== undefined) return AS_STATED
  const lines = named.map(row => row.map(toName).join())
  return kind.formats.find(([, header]) => lines.some(line => header.test(line)))?.[0] ?? BY_NAMES
}

/** The place of the column of these names, -1 if there is none. Of several, the preferred one. */
function placeOf(columns: readonly (readonly string[])[], names: string): number | string {
  for (const alternative of names.split(' ')) {
    const pattern = new RegExp(`^(?:${alternative})$`)
    const found = columns.flatMap((own, i) => (own.some(name => pattern.test(toName(name))) ? [i] : []))
    if (found.length === 1) return found[0]!
    if (found.length > 1)
      return `expected one column, got ${listed(found.map(i => columns[i]![0]!))}: state the right one with --column (columns:)`
  }
  return -1
}

function statedPlace(columns: readonly (readonly string[])[], stated: string | number): number | string {
  const found = columns.flatMap((names, i) => (stated === i + 1 || names.includes(String(stated)) ? [i] : []))
  const known = listed(columns.map((names, i) => names[0] ?? `column ${i + 1}`))
  return found.length === 1
    ? found[0]!
    : `expected one column ${got(stated)}, got ${found.length || 'none'} among ${known}`
}

function explainMissing(kind: TableKind, role: string, header: readonly Row[]): string {
  const required = Object.keys(kind.roles).filter(each => kind.roles[each]!.required)
  return (
    `expected columns for ${required.join(', ')} of ${kind.noun}, got no column for ${role} in ${shown(header)}: ` +
    `state the names of the file with --column ${role}=NAME (columns: {${role}: NAME})`
  )
}

/** Without a header: the one known order of as many columns by which the rows are possible. */
function byOrder(kind: TableKind, rows: readonly Row[], { as, columns }: MappingRequest): Mapped | string {
  const width = rows[0]!.length
  if (columns !== undefined) {
    const places = new Map(Object.entries(columns).map(([role, place]) => [role, Number(place) - 1]))
    const missing = Object.keys(kind.roles).find(role => kind.roles[role]!.required && !places.has(role))
    const isSound = missing === undefined && [...places.values()].every(place => place >= 0 && place < width)
    if (isSound) return { format: AS_STATED, places, ignored: [] }
    return `expected the place of each column from 1 to ${width}, because the file has no header, got ${JSON.stringify(columns)}`
  }
  const known = kind.orders.filter(
    ([name, roles]) => roles.split(' ').length === width && (as === undefined || isNamed(name, as)),
  )
  const fitting = known
    .map(([name, roles]) => ({ name, places: toPlaces(roles) }))
    .filter(({ places }) =>
      rows.every(
        row => row.length !== width || (kind.fits?.(role => row[places.get(role) ?? -1] ?? '') ?? true),
      ),
    )
  const [order] = fitting
  if (order === undefined || new Set(fitting.map(({ places }) => JSON.stringify([...places]))).size > 1)
    return explainOrders(
      kind,
      rows,
      fitting.map(({ name }) => name),
    )
  return { format: order.name, places: order.places, ignored: [] }
}

const toPlaces = (roles: string): ReadonlyMap<string, number> =>
  new Map(roles.split(' ').flatMap((role, i) => (role === '-' ? [] : [[role, i] as const])))

const explainOrders = (kind: TableKind, rows: readonly Row[], fitting: readonly string[]): string =>
  (fitting.length === 0
    ? `expected a header, or a known order of columns of ${kind.noun}, got ${got(rows[0]!.join(), 200)}`
    : `expected one order of columns that fits, got ${listed(fitting)}: name the format with --as (as:)`) +
  '; or state the place of each column with --column t=1 --column o=2 ... (columns: {t: 1, o: 2, ...})'
