import type { Place, Problem } from '../book/problem.ts'

/** What is wrong with a strategy module, as text alone: what was thrown stays in its context. */
export class ModuleFault extends Error {
  /** One for each fault. */
  readonly messages: readonly string[]
  /** Where in the module it arose, if that is known. */
  readonly place: Partial<Place>

  constructor(messages: readonly string[], place: Partial<Place> = {}) {
    super(messages.join('; '))
    this.messages = messages
    this.place = place
  }
}

/** What a run of a module threw, as problems of its file. Throws what is no fault of the module. */
export function toProblems(id: string, thrown: unknown): Problem[] {
  if (!(thrown instanceof ModuleFault)) throw thrown
  return thrown.messages.map(message => ({ file: `strategies/${id}.ts`, ...thrown.place, message }))
}
