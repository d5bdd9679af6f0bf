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
