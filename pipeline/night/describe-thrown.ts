import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import type { StrategyEntry } from '../book/book.ts'
import type { Problem } from '../book/problem.ts'

/** Something thrown that is no error may be a whole dataset; this much shows what it is. */
const MAX_THROWN_CHARS = 200

/** What was thrown while a strategy was computed, as a problem of its source; for a module with the line. */
export function problemOfThrown({ id, source }: StrategyEntry, thrown: unknown): Problem {
  const message = describeThrown(thrown)
  switch (source.kind) {
    case 'module':
      return { file: `strategies/${id}.ts`, ...placeIn(source.path, thrown), message }
    case 'ledger':
      return { file: source.path, message }
    case 'returns':
      return { file: `returns/${id}.csv`, message }
  }
}

/**
 * What ended a thread from outside its task, a timer that a module left running for example, as a problem of
 * the module in whose code it arose. Empty if the stack names none of the modules.
 */
export function problemsOfStray(entries: readonly StrategyEntry[], thrown: unknown): Problem[] {
  const culprit = entries.find(
    ({ source }) => source.kind === 'module' && placeIn(source.path, thrown).line !== undefined,
  )
  return culprit === undefined ? [] : [problemOfThrown(culprit, thrown)]
}

/** The message of an error; its name precedes it unless it is `Error`. */
export function describeThrown(thrown: unknown): string {
  if (!(thrown instanceof Error)) {
    return `it threw a value that is not an Error: ${inspect(thrown, { depth: 1, breakLength: Infinity }).slice(0, MAX_THROWN_CHARS)}`
  }
  const { name, message } = thrown
  if (message === '') return `it threw an ${name} without a message`
  return name === 'Error' ? message : `${name}: ${message}`
}

/**
 * The topmost place of the stack in the module itself; none if the engine refused its result. Text
 * that does not parse has no stack yet: there Node puts the plain path and the line before everything else.
 */
function placeIn(path: string, thrown: unknown): Pick<Problem, 'line' | 'column'> {
  if (!(thrown instanceof Error) || thrown.stack === undefined) return {}
  const { stack } = thrown
  const name = stack.startsWith(`${path}:`) ? path : pathToFileURL(path).href
  const [, rest] = stack.split(name, 2)
  const [, line, column] = /^:(\d+)(?::(\d+))?/.exec(rest ?? '') ?? []
  if (line === undefined) return {}
  return { line: Number(line), ...(column === undefined ? {} : { column: Number(column) }) }
}
