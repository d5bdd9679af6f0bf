import { hint } from './field.ts'
import { BOOK_FOLDERS, type Folder } from './folder.ts'
import type { Problem } from './problem.ts'
import { CATALOGUE_FILE } from './read-catalogue.ts'
import { PROGRAM_FILE } from './read-program.ts'
import { TIMEFRAMES } from './timeframe.ts'

/** Files in the root that belong to an editor or to the operator's own tools. */
const TOLERATED = ['node_modules/', 'package.json', 'package-lock.json', 'tsconfig.json']

/** What the catalogue speaks of. */
export type Known = { readonly ids: readonly string[]; readonly instruments: readonly string[] }

/**
 * Files that the book does not speak of, each a warning: a ledger without a strategy is more often a misspelt name
 * than a left-over. Bars that no strategy needs are none, nor is anything under `strategies/`, which is code, nor a
 * Markdown file, nor one that begins with a dot.
 */
export const strays = (folder: Folder, known: Known): Problem[] =>
  [...folder].flatMap(file => {
    const message = strayMessage(file, known)
    return message === null ? [] : [{ file, message }]
  })

function strayMessage(file: string, { ids, instruments }: Known): string | null {
  const [parent = '', ...rest] = file.split('/')
  const name = rest.at(-1) ?? parent
  if (name.startsWith('.') || parent.startsWith('.') || name.endsWith('.md')) return null
  switch (parent) {
    case 'strategies':
      return null
    case 'bars':
      return strayBars(rest, instruments)
    case 'funding':
      return strayTable(name, instruments, 'a file named after an instrument of the catalogue')
    case 'ledgers':
    case 'returns':
      return strayTable(name, ids, 'a file named after the id of a strategy')
    default:
      return strayInRoot(file)
  }
}

function strayInRoot(file: string): string | null {
  const known = [CATALOGUE_FILE, PROGRAM_FILE, ...BOOK_FOLDERS.map(name => `${name}/`)]
  if (known.includes(file) || TOLERATED.includes(file)) return null
  return ignored('a file or folder of a book', file, known)
}

function strayBars(
  [instrument = '', name]: readonly string[],
  instruments: readonly string[],
): string | null {
  if (!instruments.includes(instrument)) {
    return ignored('a folder named after an instrument of the catalogue', instrument, instruments)
  }
  return name === undefined ? null : strayTable(name, TIMEFRAMES, 'a file named after a timeframe')
}

function strayTable(name: string, stems: readonly string[], expected: string): string | null {
  const names = stems.flatMap(stem => [`${stem}.csv`, `${stem}.csv.gz`])
  return names.includes(name) ? null : ignored(expected, name, names)
}

const ignored = (expected: string, name: string, known: readonly string[]): string =>
  `expected ${expected}, got ${name}, which is ignored; ${hint(name, known, 'name')}`
