import { open, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { unzipSync } from 'fflate'
import { sha256 } from '#storage/digest.ts'
import { placeOf, type Reading } from '../book/reading.ts'
import { attempt, createLineSplitter, readLines, refuse, splitLine } from './lines.ts'

export type Row = readonly string[]

/** `row` counts lines of a text and records of other files, from 1; the names of columns of the latter are row 0. */
type OnRow = (cells: Row, row: number) => void

/** Finds the list of rows in a JSON document, and may look at the rest of it. Throws `UnreadableFile`. */
export type PickRows = (document: unknown) => readonly unknown[] | Promise<readonly unknown[]>

/** Files that are read whole; an archive is one, and is in none. */
const DOCUMENT = /\.(?:json|jsonl|ndjson|parquet|feather|arrow)$/i
const isText = (name: string): boolean => !DOCUMENT.test(name) && !/\.zip$/i.test(name)

const NEVER = /$^/

/** Files that begin with these bytes are no table, or need another ending: what they are, and what to do. */
const CONTAINERS: readonly (readonly [begin: RegExp, ending: RegExp, what: string])[] = [
  [
    /^504b0304/,
    /\.zip$/i,
    'a workbook (XLSX) or an archive: save the sheet as CSV, or name the archive .zip',
  ],
  [/^d0cf11e0/, NEVER, 'a workbook (XLS): save the sheet as CSV'],
  // `<!` and `<ht`, in capitals or not: many tools call such a page .xls.
  [/^3c(?:21|6874|4854)/, NEVER, 'a web page (HTML): save the sheet as CSV'],
  [/^1f8b/, /\.gz$/i, 'a gzip file: give it the ending .gz'],
  [/^50415231/, /\.parquet$/i, 'a Parquet file: give it the ending .parquet'],
  [/^4152524f5731/, /\.(?:feather|arrow)$/i, 'an Arrow file: give it the ending .arrow'],
]

/**
 * Reads a table of any form, by the ending of its name: JSON (also a record a line), Parquet, Arrow (Feather), and otherwise lines of
 * text with commas, semicolons, tabs or bars; each plain, as `.gz` or alone in a `.zip`. `openRow` is the row of a last line without a
 * line break, which may be cut off. Throws what `toUnreadable` knows if the file cannot be read; `onRow` may throw it, too.
 */
export async function readRows(reading: Reading, path: string, onRow: OnRow, pick: PickRows = onlyList) {
  if (reading.held !== null) return readBytes(path, reading.held, onRow, pick)
  const place = placeOf(reading, path)
  await assertKnown(place)
  if (isText(path.replace(/\.gz$/i, ''))) {
    const cells = createCellSplitter(onRow)
    const file = await readLines(place, cells.onLine)
    return { ...file, openRow: cells.end(file) }
  }
  const { size } = await stat(place)
  if (size > MAX_TABLE_BYTES) refuse(tooLarge(size))
  return readBytes(basename(place), await readFile(place), onRow, pick)
}

async function assertKnown(place: string): Promise<void> {
  await using file = await open(place)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8)
  const bytes = buffer.toString('hex', 0, bytesRead)
  const found = CONTAINERS.find(([begin, ending]) => begin.test(bytes) && !ending.test(place))
  if (found !== undefined) refuse(`expected a table, got ${found[2]}`)
}

/** Memory for a document and its rows at once; a million bars of JSON have 60 MB. */
const MAX_TABLE_BYTES = 256_000_000

async function readBytes(path: string, packed: Buffer, onRow: OnRow, pick: PickRows) {
  const file = { bytes: packed.length, sha256: sha256(packed) }
  const { name, bytes } = unpack(path, packed)
  if (isText(name)) {
    const cells = createCellSplitter(onRow)
    const splitter = createLineSplitter(cells.onLine)
    splitter.push(bytes)
    return { ...file, openRow: cells.end(splitter.end()) }
  }
  const rows = await toRows(name, bytes, pick)
  // The keys of objects are the names of the columns; a later one may have more.
  const keys = new Set<string>()
  for (const row of rows) for (const key in row) keys.add(key)
  const names = Array.isArray(rows[0]) ? null : [...keys]
  if (names !== null) onRow(names, 0)
  for (const [i, row] of rows.entries())
    onRow((names?.map(name => row[name]) ?? Object.values(row)).map(toCell), i + 1)
  return { ...file, openRow: null }
}

const tooLarge = (bytes: number): string =>
  `expected at most ${MAX_TABLE_BYTES} bytes of a file that is read whole, got ${bytes}: bring it as CSV, which is read in pieces`

function unpack(name: string, packed: Buffer): { readonly name: string; readonly bytes: Uint8Array } {
  if (/\.zip$/i.test(name)) return unzip(name, packed)
  if (!/\.gz$/i.test(name)) return { name, bytes: packed }
  return { name: name.slice(0, -3), bytes: gunzipSync(packed, { maxOutputLength: MAX_TABLE_BYTES }) }
}

/** The one table of an archive, or the one that is named like it. */
function unzip(name: string, packed: Buffer) {
  const files = attempt('a zip archive', () => unzipSync(packed, { filter: isTable }))
  const names = Object.keys(files)
  const alone = names.length === 1 ? names[0] : names.find(each => stem(each) === stem(name))
  if (alone !== undefined) return { name: alone, bytes: files[alone]! }
  const got = names.length === 0 ? 'none' : names.join(', ')
  refuse(`expected one table in the archive, or one that is named like it, got ${got}`)
}

const stem = (name: string): string => basename(name).replace(/\.\w+$/, '')

function isTable({ name, originalSize }: { readonly name: string; readonly originalSize: number }): boolean {
  if (!(DOCUMENT.test(name) || /\.(?:csv|txt|tsv)$/i.test(name)) || name.startsWith('__MACOSX/')) return false
  if (originalSize > MAX_TABLE_BYTES) refuse(tooLarge(originalSize))
  return true
}

/** A row of a document: an object, or a list, whose keys are its places. */
type Fields = Readonly<Record<string, unknown>>

async function toRows(name: string, bytes: Uint8Array, pick: PickRows): Promise<readonly Fields[]> {
  if (/\.(?:parquet|feather|arrow)$/i.test(name)) {
    const { arrowRows, parquetRows } = await import('./columnar.ts') // most books have none
    return /\.parquet$/i.test(name) ? parquetRows(bytes) : arrowRows(bytes)
  }
  const text = new TextDecoder().decode(bytes)
  const document = attempt('JSON', (): unknown =>
    JSON.parse(isRecords(text) ? `[${text.trim().split('\n').join()}]` : text),
  )
  const rows = await pick(document)
  assertNamesOnce(text, document)
  const isRow = (row: unknown): row is Fields =>
    isNested(row) && Array.isArray(row) === Array.isArray(rows[0])
  if (rows.every(isRow)) return rows
  refuse('expected a list of rows, all of them lists or all of them objects, got another value in it')
}

/** Whether a text has a record of JSON in every line, of several. */
function isRecords(text: string): boolean {
  const lines = text.trimEnd().split('\n')
  return lines.length > 1 && lines.every(line => /^[{[].*[}\]]\s*$/.test(line))
}

/** A text of JSON, with the colon behind it if it is a name. */
const TEXT_OR_NAME = /"(?:[^"\\]|\\.)*"(\s*:)?/g

/** Two records that ran into each other have every name twice, and JSON keeps the last value: a row would be lost unseen. */
function assertNamesOnce(text: string, document: unknown): void {
  if (namesIn(text) !== namesIn(attempt('JSON', () => JSON.stringify(document))))
    refuse('expected each name once in an object, got one twice: the file is damaged')
}

function namesIn(text: string): number {
  let names = 0
  for (const [, colon] of text.matchAll(TEXT_OR_NAME)) if (colon !== undefined) names++
  return names
}

/** No column that is read has lists or objects in its cells. */
const NESTED = '{…}'

function toCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString()
  return isNested(value) ? NESTED : String(value)
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

/**
 * The one list of rows in a document of an exchange, however deep: `[...]`, `{"data": {"ohlc": [...]}}`; or the rows of one
 * object of columns, `{"t": [...], "o": [...]}`.
 */
export const onlyList: PickRows = document => {
  const objects = objectsIn({ document })
  const lists = objects.flatMap(columnsOf).map(([, list]) => list)
  const tables = lists.filter(list => list.some(isNested))
  if (tables.length === 0) return rowsOf(objects)
  if (tables.length > 1) refuse(`${ONE_LIST}, got ${tables.length}`)
  const [row] = tables[0]!
  const areNames = (list: readonly unknown[], { length }: readonly unknown[]): boolean =>
    list.length === length && list.every(value => typeof value === 'string' && /^\D/.test(value))
  if (Array.isArray(row) && lists.some(list => areNames(list, row))) refuse(NAMES_BESIDE)
  return tables[0]!
}

const ONE_LIST = 'expected JSON with one list of rows'

const NAMES_BESIDE =
  "expected rows that have their names, got a list of names beside them: write records (pandas: orient='records'), or CSV"

/** The rows of the one object whose values are the columns of a table, all of one length. */
async function rowsOf(objects: readonly object[]): Promise<readonly unknown[]> {
  const [columns = [], ...others] = objects.map(columnsOf).filter(({ length }) => length > 1)
  if (others.length > 0) refuse(`expected one object of columns, got ${others.length + 1}: bring each alone`)
  if (new Set(columns.map(([, list]) => list.length)).size !== 1)
    refuse(`${ONE_LIST}, got none (pandas writes one with orient='records')`)
  const { table } = await import('arquero') // a quarter of a second, which few files need
  return table(Object.fromEntries(columns)).objects()
}

const columnsOf = (value: object): [string, unknown[]][] =>
  Object.entries(value).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))

/** An object and all objects in it, but for those in lists, down to a level that no document with a table has. */
const objectsIn = (value: unknown, level = 0): object[] =>
  isNested(value) && !Array.isArray(value) && level < 64
    ? [value, ...Object.values(value).flatMap(each => objectsIn(each, level + 1))]
    : []

/** Lines that are looked at to find out what separates their fields. */
const LOOKED_AT = 30

const DELIMITERS = [',', ';', '\t', '|'] as const

/** The separator that cuts most lines into as many fields, and of several the one that makes more: marks in a text cut few lines. */
function delimiterOf(lines: readonly string[]): string {
  const shown = lines.filter(line => line.trim() !== '')
  const cuts = DELIMITERS.flatMap(delimiter => {
    const widths = Map.groupBy(shown, line => splitLine(line, delimiter)?.length ?? 1)
    return [...widths].map(([width, { length }]) => ({ delimiter, width, agree: width > 1 ? length : 0 }))
  })
  const [best] = cuts.sort((a, b) => b.agree - a.agree || b.width - a.width)
  return best?.delimiter ?? ','
}

const UTF16 = 'expected text in UTF-8, got UTF-16 or another thing with zeros in it: save the file as UTF-8'

function createCellSplitter(onRow: OnRow) {
  const first: string[] = []
  let delimiter: string | null = null
  const split = (line: string, row: number): void => {
    if (line.trim() === '') return
    const cells = splitLine(line, delimiter ?? ',')
    if (cells === null) refuse('expected fields whose quotes match, got a stray quote', row)
    onRow(cells, row)
  }
  const begin = (): void => {
    delimiter = delimiterOf(first)
    for (const [i, line] of first.entries()) split(line, i + 1)
  }
  return {
    onLine(line: string, row: number): void {
      if (delimiter !== null) {
        split(line, row)
        return
      }
      if (line.includes('\0')) refuse(UTF16, row)
      if (first.push(line) === LOOKED_AT) begin()
    },
    /** Takes the last line, if it has no break; returns its row. */
    end({ openLine, lines }: { readonly openLine: string | null; readonly lines: number }): number | null {
      if (openLine !== null) this.onLine(openLine, lines + 1)
      if (delimiter === null) begin()
      return (openLine ?? '').trim() === '' ? null : lines + 1
    },
  }
}
