import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Bars } from '#core/replay/bars.ts'
import { spellMoment } from './cell.ts'

export const tableText = (header: string, rows: readonly (readonly string[])[]): string =>
  [header, ...rows.map(row => row.join())].map(line => `${line}\n`).join('')

/** Bars as the book has them; a volume that is unknown is blank. */
export function barsText({ t, o, h, l, c, v }: Bars): string {
  const rows = Array.from(t, (ms, i) => [
    spellMoment(ms),
    ...[o, h, l, c].map(column => String(column[i])),
    Number.isNaN(v[i]) ? '' : String(v[i]),
  ])
  return tableText('t,o,h,l,c,v', rows)
}

/** Writes files of a book, all of them or none: no reader sees half a table, and a failure leaves nothing behind. */
export async function writeBookFiles(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  const paths = Object.keys(files)
  try {
    for (const path of paths) {
      await mkdir(dirname(join(dir, path)), { recursive: true })
      await writeFile(temporary(dir, path), files[path]!)
    }
    for (const path of paths) await rename(temporary(dir, path), join(dir, path))
  } finally {
    for (const path of paths) await rm(temporary(dir, path), { force: true })
  }
}

const temporary = (dir: string, path: string): string => join(dir, `${path}.importing`)

/** Throws if the book has the table already, plain or as `.gz`, and it may not be replaced. */
export function assertFree(dir: string, path: string, mayReplace: boolean): void {
  if (existsSync(join(dir, `${path}.gz`)))
    throw new Error(`expected no ${path}.gz in ${dir}, got one: remove it first`)
  if (existsSync(join(dir, path)) && !mayReplace)
    throw new Error(`expected no ${path} in ${dir}, got one: --replace writes a new one`)
}

/**
 * A table with the rows of a later export that come after its last one. A row that differs from an earlier one is an error, unless
 * its trade was open: history is corrected with consent. No two rows are equal, because equal parts of an entry are numbered.
 */
export function appendRows(before: string, after: string, path: string): string {
  const [[header = '', ...rows], [again, ...more]] = [linesOf(before), linesOf(after)]
  if (header !== again)
    throw new Error(
      `--append: expected the columns ${header} of ${path}, got ${again}: import the whole file with --replace`,
    )
  const [known, grown] = [new Set(rows), [...rows]]
  const last = rows.map(timeOf).reduce((latest, time) => (time > latest ? time : latest), '')
  for (const [i, row] of more.entries()) {
    if (known.has(row)) continue
    // The cells before its exit, which were blank.
    const open = grown.findIndex(each => each.startsWith(`${row.split(',', 3).join()},,`))
    if (open >= 0) grown[open] = row
    else if (timeOf(row) > last) grown.push(row)
    else
      throw new Error(
        `--append: expected row ${i + 2} as it is in ${path}, got ${row}: a corrected trade changes history; import the file with --replace, and build with --restate ${path.replace(/^.*\/|\.csv$/g, '')} --reason TEXT`,
      )
  }
  return [header, ...grown].map(row => `${row}\n`).join('')
}

const linesOf = (text: string): string[] => text.trimEnd().split('\n')

/** The place of a row is its first time. */
const timeOf = (row: string): string => row.split(',').find(cell => /^\d{4}-/.test(cell)) ?? ''
