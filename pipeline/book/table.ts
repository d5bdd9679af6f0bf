import { parse } from 'csv-parse/sync'
import { type Columns, explainHeader, explainLength, type Header, toHeader } from './header.ts'
import { readLines, UnreadableFile } from './lines.ts'
import { placeOf, type Reading } from './reading.ts'

/**
 * Reads a CSV file of the book, plain or gzip, and hands each row on as its fields in the order of `columns`
 * (required, then optional). Everything that is wrong with the form of the file goes to `reading.problems`.
 *
 * A row is a line: no field of the book needs a line break. Only a line with a quote in it is given to csv-parse,
 * because a plain one is split several times faster.
 */
export async function readTable(
  reading: Reading,
  path: string,
  columns: Columns,
  onRow: (fields: readonly string[], row: number) => void,
): Promise<void> {
  const report = (row: number | null, message: string) =>
    reading.problems.add({ file: path, message, ...(row === null ? {} : { row }) })
  const rows = createRowReader(columns, onRow, report)
  reading.onFile(path)
  try {
    const { bytes, sha256, lines } = await readLines(placeOf(reading, path), rows.onLine)
    reading.inputs.push({ path, bytes, sha256, rows: Math.max(lines - 1, 0) })
    rows.end(lines)
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    report(error.row, error.message)
  }
}

/** Takes the lines of a table one by one: the first is its header, and under a bad header no row is judged. */
function createRowReader(
  columns: Columns,
  onRow: (fields: readonly string[], row: number) => void,
  report: (row: number, message: string) => void,
) {
  let header: Header | null = null

  return {
    onLine(line: string, row: number): void {
      if (row === 1) {
        const text = line.replace(BYTE_ORDER_MARK, '')
        header = toHeader(splitLine(text) ?? [], columns)
        if (header === null) report(row, explainHeader(text, columns))
      } else if (header !== null) {
        const fields = splitLine(line)
        if (fields?.length === header.names.length) onRow(header.arrange(fields), row)
        else report(row, explainLength(line, fields, header))
      }
    },
    end(lines: number): void {
      if (lines === 0) report(1, explainHeader('', columns))
      if (lines === 1 && header !== null && !columns.mayBeEmpty)
        report(1, 'expected rows under the header, got none')
    },
  }
}

/** Spreadsheets write it before UTF-8 text. */
const BYTE_ORDER_MARK = '\ufeff'

/** The fields of a line, or null where its quotes do not close. */
function splitLine(line: string): readonly string[] | null {
  if (!line.includes('"')) return line.split(',')
  try {
    const [fields]: string[][] = parse(line)
    return fields ?? null
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_')) return null
    throw error
  }
}
