import type { StrategyEntry } from '../book/book.ts'
import type { Problem } from '../book/problem.ts'

/** What was thrown while the history of a strategy was made, as a problem of its source. */
export function problemOfThrown({ id, source }: StrategyEntry, thrown: unknown): Problem {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  switch (source.kind) {
    case 'module':
      return { file: `strategies/${id}.ts`, message }
    case 'ledger':
      return { file: source.path, message }
    case 'returns':
      return { file: source.path, message }
  }
}
