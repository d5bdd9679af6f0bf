import { got, listed } from '../book/field.ts'
import { UnreadableFile } from '../table/lines.ts'
import type { Row } from '../table/rows.ts'
import { type Format, isNamed, type Kind, reasonIn, toName, usesOf } from './format.ts'
import type { Statement } from './statement.ts'

/** Which column is what. */
export type Mapping = ReturnType<typeof mapColumns>

type Probe = readonly { readonly cells: Row; readonly row: number }[]

type Layout = ReturnType<typeof layoutOf>

/** What each column is: a role, or why it is not read; undefined if nothing says it. */
type Uses = readonly (string | undefined)[]

/** A format, null for a plain table, and what each column is in it. */
type Fit = { readonly format: Format | null; readonly uses: Uses }

const PLAIN = 'table'

/** Throws. What is wrong with the columns is wrong from the first row on. */
function refuse(message: string, row: number | null = 1): never {
  throw new UnreadableFile(message, row)
}

/** Finds header and columns in the first rows of a table. Throws `UnreadableFile` if they are not beyond doubt. */
export function mapColumns(kind: Kind, probe: Probe, statement: Statement) {
  if (probe.length === 0) refuse(`expected a table of ${kind.noun}, got an empty file`)
  const layout = layoutOf(kind, probe)
  const { banner, names, rows } = layout
  const { format, uses: found } = fitOf(kind, layout, statement)
  const uses = withStated(kind, found, names, statement)
  const places = Map.groupBy(names.keys(), i => uses[i])
  const lacking = kind.required.find(role => !places.has(role))
  if (lacking !== undefined) refuse(explainMissing(kind, lacking, names), rows[0]!.row)
  const isHeader = ({ cells: [name = ''] }: Probe[number], i: number): boolean =>
    layout.hasHeader && (i === 0 || format?.below?.test(name.trim()) === true)
  const data = rows.filter((each, i) => !isHeader(each, i))
  const unnamed = statement.columns === undefined ? 'columns by name' : 'columns as stated'
  return {
    kind,
    /** The name of the format, and its declaration; null for a plain table. */
    name: format?.name ?? unnamed,
    format,
    /** The names of all columns, which are their places from 1 if there is no header; and by use the places from 0. */
    names,
    places,
    /** Rows that are not data: those above the header; the header itself, and rows below it that belong to it. */
    bannerRows: banner.map(({ row }) => row),
    headerRows: rows.filter(isHeader).map(({ row }) => row),
    /** Columns that are not read, and why. */
    unread: unreadOf(kind, uses, names, data),
  }
}

const isNumber = (cell: string): boolean => /^[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?%?$/.test(cell.trim())

/** A table begins with its first row of full width, which is its header unless it has numbers. Rows above a header are a banner. */
function layoutOf(kind: Kind, probe: Probe) {
  const widths = [...Map.groupBy(probe, ({ cells }) => cells.length)]
  const [width] = widths.reduce((a, b) => (b[0] * b[1].length > a[0] * a[1].length ? b : a))
  const at = probe.findIndex(({ cells }) => cells.length === width)
  const [banner, rows] = [probe.slice(0, at), probe.slice(at)]
  const { cells, row } = rows[0]!
  // One format has a column of the name 0.
  const isKnown = kind.formats.some(format => usesOf(format, cells.map(toName)) !== null)
  const hasHeader = isKnown || !cells.some(isNumber)
  const stray = banner.find(each => !hasHeader || each.cells.filter(isNumber).length > 1)
  if (stray !== undefined)
    refuse(
      `expected a header, or a banner of fewer fields above it, got ${shown(stray.cells)} above row ${row}`,
      stray.row,
    )
  const names = cells.map((name, i) => (hasHeader ? name.trim() : String(i + 1)))
  return { banner, rows, hasHeader, names }
}

/** The one format that a table has, or what its names say. Columns whose places are stated need no names. */
function fitOf(kind: Kind, layout: Layout, { format, columns }: Statement): Fit {
  const { rows, hasHeader, names } = layout
  // Formats of one form have one declaration: `yahoo/freqtrade`.
  const chosen = kind.formats.filter(
    ({ name }) => format === undefined || [name, ...name.split('/')].includes(format),
  )
  const known = [PLAIN, ...new Set(kind.formats.map(({ name }) => name))]
  if (chosen.length === 0 && format !== PLAIN)
    refuse(`expected a format of ${known.join(', ')}, got ${got(format)}: correct --format`)
  if (!hasHeader && columns !== undefined) return { format: null, uses: [] }
  const fits = chosen.flatMap((each): Fit[] => {
    const uses = hasHeader ? usesOf(each, names.map(toName)) : orderIn(kind, each, rows)
    return uses === null ? [] : [{ format: each, uses }]
  })
  const kinds = new Set(fits.map(fit => [fit.format?.times, ...fit.uses.map(readAs)].join()))
  if (kinds.size === 1) return fits[0]!
  const isPlain = fits.length === 0 && hasHeader && (format === undefined || format === PLAIN)
  if (!isPlain) refuse(explainFits(kind, layout, fits, format), rows[0]!.row)
  return { format: null, uses: usesByName(kind, names, columns) }
}

/** What only confirms others, or is not read, makes no other reading. */
const readAs = (use = ''): string => (use === 'q' || use.startsWith('(') ? '' : use)

function explainFits({ noun }: Kind, layout: Layout, fits: readonly Fit[], format?: string): string {
  const rivals = listed(fits.map(fit => fit.format!.name))
  if (fits.length > 0)
    return `expected one order of columns that fits, got ${rivals}: name the format with --format`
  const found = shown(layout.rows[0]!.cells)
  return layout.hasHeader
    ? `expected the columns of ${format}, got ${found}: leave out --format, or state --format ${PLAIN} and the columns`
    : `expected a header, or a known order of columns of ${noun}, got ${found}: export the names of the columns, or state their places with --column t=1 --column o=2 ...`
}

/** What columns without a header are in the order of a format, if each cell can be that. Rows of another length are reported later. */
function orderIn({ fits }: Kind, { columns, hasHeader }: Format, rows: Probe): Uses | null {
  const uses = columns.map(({ use }) => use)
  const canBe = ({ cells }: Probe[number]): boolean =>
    cells.length !== uses.length ||
    uses.every(use => fits(use, role => cells[uses.indexOf(role)]?.trim() ?? ''))
  return !hasHeader && uses.length === rows[0]!.cells.length && rows.every(canBe) ? uses : null
}

/** Roles whose columns are added. */
const ADDED = ['fees', 'funding']

/** What columns are by their names, unless it is stated. Of several of one preference none is chosen. */
function usesByName({ roles }: Kind, names: Row, columns: Statement['columns'] = {}): Uses {
  const uses = names.map((): string | undefined => undefined)
  const named = (pattern: string): number[] => names.flatMap((name, i) => (isNamed(pattern, name) ? [i] : []))
  for (const [role, patterns] of Object.entries(roles)) {
    if (Object.hasOwn(columns, role)) continue
    const found =
      patterns
        .split(' ')
        .map(named)
        .find(places => places.length > 0) ?? []
    if (found.length > 1 && !ADDED.includes(role))
      refuse(
        `${role}: expected one column, got ${listed(found.map(i => names[i]!))}: state the right one with --column ${role}=NAME`,
      )
    for (const i of found) uses[i] ??= role
  }
  return uses
}

/** What is stated takes the place of what was recognised. */
function withStated({ roles }: Kind, found: Uses, names: Row, { columns = {}, ignore = [] }: Statement) {
  const uses = names.map((_, i) => (Object.hasOwn(columns, found[i] ?? '') ? undefined : found[i]))
  const stated = new Set<number>()
  for (const [role, column] of [...Object.entries(columns), ...ignore.map(each => [null, each] as const)]) {
    if (role !== null && !Object.hasOwn(roles, role))
      refuse(`expected roles of ${Object.keys(roles).join(', ')}, got ${got(role)}: correct --column`)
    for (const place of placesOf(String(column), names)) {
      if (place < 0) refuse(`expected one column ${got(column)}, got none or several among ${listed(names)}`)
      if (stated.has(place)) refuse(`expected one statement about ${got(names[place])}, got two: remove one`)
      uses[place] = role ?? '(as stated)'
      stated.add(place)
    }
  }
  return uses
}

/** The place of a column, or the places of the two of `DATE+TIME`. */
function placesOf(column: string, names: Row): readonly number[] {
  const place = placeOf(column, names)
  return place >= 0 ? [place] : column.split('+').map(part => placeOf(part.trim(), names))
}

/** The place of a name, or of a number from 1; -1 if it is not there, or the name is there twice. */
function placeOf(column: string, names: Row): number {
  const place = names.indexOf(column)
  if (place >= 0) return names.lastIndexOf(column) === place ? place : -1
  return Number(column) - 1 in names ? Number(column) - 1 : -1
}

/** Columns that are not read. One of a plain table that could change a figure ends the import. */
function unreadOf({ matters }: Kind, uses: Uses, names: Row, data: Probe) {
  const cellsAt = (i: number): string[] => data.map(({ cells }) => cells[i] ?? '')
  const open = names.filter((name, i) => uses[i] === undefined && matters(toName(name), cellsAt(i)))
  if (open.length > 0)
    refuse(
      `expected to know what ${listed(open.map(name => got(name)))} ${open.length === 1 ? 'is' : 'are'}, because such a column can change a figure: ` +
        'state its role with --column ROLE=NAME, t=DATE+TIME for a time in two, or --ignore NAME, which is published',
    )
  return names.flatMap((column, i) => {
    const why = reasonIn(uses[i] ?? '(not known)')
    return why === undefined ? [] : [{ column: column || `column ${i + 1}`, why }]
  })
}

function explainMissing({ required, noun, looksLike }: Kind, role: string, names: Row): string {
  const other = looksLike?.(names)
  if (other) return `expected ${noun}, got what looks like ${other}`
  return (
    `expected columns for ${required.join(', ')} of ${noun}, got no column for ${role} in ${shown(names)}: ` +
    `state the names of the file with --column ${role}=NAME, or remove what is above its header`
  )
}

const shown = (names: Row): string => got(names.join(), 200)
