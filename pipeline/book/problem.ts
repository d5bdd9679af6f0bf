import { counted } from './field.ts'

/** A place in a text, both from 1. */
export type Place = { readonly line: number; readonly column: number }

/** A problem of the book: its place, and a sentence with what was expected and what was found. */
export type Problem = {
  /** Path inside the book, with forward slashes. */
  readonly file: string
  /** Of a text file, from 1, as editors count. */
  readonly line?: number
  readonly column?: number
  /** Of a table, from 1; the header is row 1, so it is the line that an editor or a spreadsheet shows. */
  readonly row?: number
  readonly message: string
}

/** `catalogue.yaml:14:7: strategies[2].base_risk_pct: expected a number above 0, got "two"`. */
export function formatProblem({ file, line, column, row, message }: Problem): string {
  return [file, line, column, row].filter(part => part !== undefined).join(':') + `: ${message}`
}

/** Every problem of a book, or of files to import, at once, sorted by file and line. */
export class BookError extends Error {
  readonly problems: readonly Problem[]

  constructor(dir: string, problems: readonly Problem[], subject = `the book in ${dir}`) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super([`${subject} has ${count}:`, ...problems.map(formatProblem)].join('\n  '))
    this.name = 'BookError'
    this.problems = problems
  }
}

export type ProblemList = ReturnType<typeof createProblemList>

/** Of one file so many kinds of problems are printed, without hiding the next file. */
export const MAX_PROBLEMS_PER_FILE = 20

/** A wrong column spoils every row: of rows with one problem so many have a sentence each, and more have one together. */
const MOST_ALIKE = 3

/** So many of the rows are named. */
const MOST_NAMED = 7

/** Problems of rows that differ in row and values alone: the first ones, and how many there are. */
type Alike = { readonly kept: Problem[]; count: number }

/** Gathers problems. Of one file it keeps those of the first `MAX_PROBLEMS_PER_FILE` kinds, and counts the rest. */
export function createProblemList() {
  const byFile = new Map<string, { readonly kinds: Map<string, Alike>; dropped: number }>()

  return {
    add(problem: Problem): void {
      const ofFile = byFile.get(problem.file) ?? { kinds: new Map<string, Alike>(), dropped: 0 }
      byFile.set(problem.file, ofFile)
      const { kinds } = ofFile
      const kind = kindOf(problem)
      const alike = kinds.get(kind) ?? { kept: [], count: 0 }
      if (kinds.size < MAX_PROBLEMS_PER_FILE) kinds.set(kind, alike)
      if (!kinds.has(kind)) ofFile.dropped += 1
      else if (++alike.count <= MOST_NAMED) alike.kept.push(problem)
    },
    isEmpty: (): boolean => byFile.size === 0,
    has: (file: string): boolean => byFile.has(file),
    /** All of them by file and line; a file past the cap ends with `and 37 more problems in this file`. */
    sorted: (): readonly Problem[] =>
      // By code unit, so that the order is the same on every machine.
      [...byFile.keys()].sort().flatMap(file => {
        const { kinds, dropped } = byFile.get(file)!
        const kept = [...kinds.values()].flatMap(joined).sort(byPosition)
        if (dropped === 0) return kept
        return [...kept, { file, message: `and ${counted(dropped, 'more problem')} in this file` }]
      }),
  }
}

/** Values of a sentence: texts in quotes, numbers and times. What is in braces is a fix to paste, as it stands. */
const VALUES = /(\{[^}]*\})|"(?:[^"\\]|\\.)*(?:"|$)|[-+]?\d[\w.:+-]*/g

const kindOf = (problem: Problem): string =>
  problem.row === undefined
    ? formatProblem(problem)
    : problem.message.replaceAll(VALUES, (_, fix: string = '#') => fix)

/** Problems of one kind: each, or the first with the rows of all. */
function joined({ kept, count }: Alike): readonly Problem[] {
  const [first, ...others] = kept.toSorted(byPosition)
  if (first?.row === undefined || count <= MOST_ALIKE) return kept
  const rows = [first, ...others].map(({ row }) => row).join(', ')
  const rest = count > kept.length ? ` and ${count - kept.length} more` : ''
  return [{ ...first, message: `${first.message} (${count} rows: ${rows}${rest})` }]
}

const byPosition = (a: Problem, b: Problem): number =>
  (a.line ?? a.row ?? 0) - (b.line ?? b.row ?? 0) || (a.column ?? 0) - (b.column ?? 0)
