import type { Terminal } from './terminal.ts'

/** What a command gets of the world. Made once, in the entry file. */
export type Surroundings = {
  readonly env: NodeJS.ProcessEnv
  /** The folder of the project itself. */
  readonly root: string
  readonly cwd: string
  /** The time of day, epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds since some fixed point, for measuring. */
  readonly elapsed: () => number
  /** Resolves after so many milliseconds. */
  readonly pause: (ms: number) => Promise<void>
  /** Numbers in [0, 1), for what need not be secret. */
  readonly random: () => number
  /** Gives so many bytes that nobody can guess. */
  readonly drawBytes: (count: number) => Uint8Array
  readonly cores: number
  /** Where a service logs what happens, a line of JSON each. */
  readonly logStream: { readonly write: (line: string) => void }
  readonly terminal: Terminal
  /** Resolves when the process is asked to end. */
  readonly untilStopped: () => Promise<void>
}
