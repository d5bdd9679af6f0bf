import type { Terminal } from './print/terminal.ts'

/** The services that a command uses, created once in the entry file. A test passes others. */
export type Runtime = {
  readonly env: NodeJS.ProcessEnv
  /** The folder of the project itself: a checkout, or an npm package. */
  readonly root: string
  /** The folder of `.data` and `.servers`: the checkout or, for a package, the working folder. */
  readonly home: string
  readonly cwd: string
  /** The time of day, epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds since some fixed point, for measuring. */
  readonly elapsed: () => number
  /** Resolves after `ms` milliseconds. */
  readonly pause: (ms: number) => Promise<void>
  /** Random numbers in [0, 1), not for secrets. */
  readonly random: () => number
  /** Returns `count` random bytes that are fit for secrets. */
  readonly drawBytes: (count: number) => Uint8Array
  readonly cores: number
  /** The log of a service, a line of JSON for each event. */
  readonly logStream: { readonly write: (line: string) => void }
  readonly terminal: Terminal
  /** Resolves at the first SIGINT or SIGTERM. */
  readonly untilStopped: () => Promise<void>
}

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
