export const EXIT = { done: 0, failed: 1, usage: 2 } as const

/** Ends a command that has printed everything with an exit code of its own. */
export class ExitError extends Error {
  override readonly name = 'ExitError'
  readonly code: number

  constructor(code: number) {
    super(`exit code ${code}`)
    this.code = code
  }
}

/** Wrong usage: exit code 2, without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
