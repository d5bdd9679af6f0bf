import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '#storage/error-code.ts'
import { CATALOGUE_FILE } from './read-catalogue.ts'
import { NOT_UTF8, type Reading } from './reading.ts'

/** The files of a book that the reader lists, with forward slashes; an unknown folder as `name/`. */
export type Folder = ReadonlySet<string>

/** The folders of a book. Their files are in them, and those of bars a level deeper. */
export const BOOK_FOLDERS = ['bars', 'charting', 'funding', 'ledgers', 'returns', 'strategies']

/** Lists the folder; without a catalogue in it, that is a problem. Links are followed. */
export async function listFolder(reading: Reading): Promise<Folder> {
  const files = new Set<string>()
  for (const name of await namesIn(reading.dir)) {
    const levels = name === 'bars' ? 2 : BOOK_FOLDERS.includes(name) ? 1 : 0
    for (const path of await listPath(reading.dir, name, levels)) files.add(path)
  }
  for (const file of files) {
    if (file.includes(NOT_UTF8))
      reading.problems.add({ file, message: 'expected a name in UTF-8, got other bytes: rename the file' })
  }
  const message = `expected a catalogue in ${reading.dir}, got no such file`
  if (!files.has(CATALOGUE_FILE)) reading.problems.add({ file: CATALOGUE_FILE, message })
  return files
}

/** The file names directly under `folder`, for messages. */
export const filesUnder = (folder: Folder, parent: string): string[] =>
  [...folder].filter(path => path.startsWith(`${parent}/`)).map(path => path.slice(parent.length + 1))

/**
 * The table `stem.csv` or `stem.csv.gz`, or null if there is none. Both at once is a problem: it is
 * ambiguous.
 */
export function tableAt(reading: Reading, folder: Folder, stem: string): string | null {
  const [file = null, other] = [`${stem}.csv`, `${stem}.csv.gz`].filter(path => folder.has(path))
  if (file !== null && other !== undefined)
    reading.problems.add({ file, message: `expected one file, got ${file} and ${other}: remove one` })
  return file
}

async function listPath(dir: string, path: string, levels: number): Promise<string[]> {
  if (!(await isFolder(join(dir, path)))) return [path]
  if (levels === 0) return [`${path}/`]
  const names = await namesIn(join(dir, path))
  const lists = await Promise.all(names.map(name => listPath(dir, `${path}/${name}`, levels - 1)))
  return lists.flat()
}

/** Sorted, so that the order is the same on every machine; empty if the folder does not exist. */
const namesIn = async (dir: string): Promise<string[]> => (await orIfAbsent(readdir(dir), [])).sort()

/** A broken link is not a folder; reading it reports the error. */
const isFolder = async (path: string): Promise<boolean> =>
  (await orIfAbsent(stat(path), null))?.isDirectory() ?? false

const orIfAbsent = <T, Nothing>(found: Promise<T>, nothing: Nothing): Promise<T | Nothing> =>
  found.catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(String(codeOf(error)))) return nothing
    throw error
  })
