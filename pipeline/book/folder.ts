import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '#storage/error-code.ts'
import { listed } from './field.ts'
import { CATALOGUE_FILE } from './read-catalogue.ts'
import { NOT_UTF8, type Reading } from './reading.ts'

/** The files of a book that the reader lists, with forward slashes; an unknown folder as `name/`. */
export type Folder = ReadonlySet<string>

/** The folders of a book. Their files are in them, and those of bars a level deeper. */
export const BOOK_FOLDERS = ['bars', 'charting', 'funding', 'ledgers', 'returns', 'strategies']

/** Lists the folder; without a catalogue in it, that is a problem. Links are followed. */
export async function listFolder(reading: Reading): Promise<Folder> {
  const files = new Set<string>()
  const names = (await readdir(reading.dir).catch(ifAbsent)) ?? []
  for (const name of names.sort()) {
    const levels = name === 'bars' ? 2 : BOOK_FOLDERS.includes(name) ? 1 : 0
    for (const path of await listPath(reading.dir, name, levels)) files.add(path)
  }
  for (const file of files)
    if (file.includes(NOT_UTF8))
      reading.problems.add({ file, message: 'expected a name in UTF-8, got other bytes: rename the file' })
  const message = `expected a catalogue in ${reading.dir}, got no such file`
  if (!files.has(CATALOGUE_FILE)) reading.problems.add({ file: CATALOGUE_FILE, message })
  return files
}

/** The file names directly under `folder`, for messages. */
export const filesUnder = (folder: Folder, parent: string): string[] =>
  [...folder].filter(path => path.startsWith(`${parent}/`)).map(path => path.slice(parent.length + 1))

/** Why a file is missed, with those that are where it is expected. */
export const explainMissing = (folder: Folder, expected: string, parent: string): string =>
  `expected ${expected}, got no such file; ${parent}/ has ${listed(filesUnder(folder, parent)) || 'no files'}`

export const tableNames = (stem: string): string[] => [`${stem}.csv`, `${stem}.csv.gz`]

/** The table of a name, or null if there is none. Both plain and packed is a problem: it is ambiguous. */
export function tableAt(reading: Reading, folder: Folder, stem: string): string | null {
  const [file = null, other] = tableNames(stem).filter(path => folder.has(path))
  if (file !== null && other !== undefined)
    reading.problems.add({ file, message: `expected one file, got ${file} and ${other}: remove one` })
  return file
}

/** A path, or what is in it, so many levels deep; sorted, so that the order is the same on every machine. */
async function listPath(dir: string, path: string, levels: number): Promise<string[]> {
  const place = join(dir, path)
  // A broken link is not a folder; reading it reports the error.
  if (!(await stat(place).catch(ifAbsent))?.isDirectory()) return [path]
  if (levels === 0) return [`${path}/`]
  const names = (await readdir(place)).sort()
  const lists = await Promise.all(names.map(name => listPath(dir, `${path}/${name}`, levels - 1)))
  return lists.flat()
}

function ifAbsent(error: unknown): null {
  if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(String(codeOf(error)))) return null
  throw error
}
