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

/** A wrong unit spoils every row of a file; twenty lines show the pattern without hiding the next file. */
export const MAX_PROBLEMS_PER_FILE = 20

/** Gathers problems; of one file it keeps the first `MAX_PROBLEMS_PER_FILE` and counts the rest. */
export function createProblemList() {
  const byFile = new Map<string, { readonly kept: Problem[]; dropped: number }>()

  return {
    add(problem: Problem): void {
      const ofFile = byFile.get(problem.file) ?? { kept: [], dropped: 0 }
      byFile.set(problem.file, ofFile)
      if (ofFile.kept.length < MAX_PROBLEMS_PER_FILE) ofFile.kept.push(problem)
      else ofFile.dropped += 1
    },
    isEmpty: (): boolean => byFile.size === 0,
    /** Whether the file has a problem. */
    has: (file: string): boolean => byFile.has(file),
    /** All of them by file and line; a file past the cap ends with `and 37 more problems in this file`. */
    sorted: (): readonly Problem[] =>
      [...byFile]
        .sort(([a], [b]) => compare(a, b))
        .flatMap(([file, { kept, dropped }]) => [...kept.sort(byPosition), ...more(file, dropped)]),
  }
}

/** By code unit, so that the order is the same on every machine. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const byPosition = (a: Problem, b: Problem): number =>
  (a.line ?? a.row ?? 0) - (b.line ?? b.row ?? 0) || (a.column ?? 0) - (b.column ?? 0)

function more(file: string, dropped: number): Problem[] {
  if (dropped === 0) return []
  return [{ file, message: `and ${dropped} more problem${dropped === 1 ? '' : 's'} in this file` }]
}
