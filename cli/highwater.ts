// The entry file: only here does the program use the clock, the environment and the terminal of the process.
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { basename, dirname, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createTerminal } from './print/terminal.ts'
import { runCommand } from './program.ts'

const elapsed = (): number => performance.now()

// A reader that closes the pipe early, such as `head`, does not end the work: more output is dropped.
process.stdout.on('error', error => {
  if (!('code' in error && error.code === 'EPIPE')) throw error
})

const root = resolve(import.meta.dirname, '..')
/** npm replaces a package as a whole, so nothing that is to last may be in it. */
const isPackage = basename(dirname(root)) === 'node_modules'

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  root,
  home: isPackage ? process.cwd() : root,
  cwd: process.cwd(),
  now: () => Date.now(),
  elapsed,
  pause: ms => setTimeout(ms),
  random: () => Math.random(),
  drawBytes: randomBytes,
  cores: availableParallelism(),
  logStream: process.stdout,
  terminal: createTerminal({ out: process.stdout, err: process.stderr, elapsedMs: elapsed }),
  // Further signals have no effect: a launcher and a terminal may both send one.
  untilStopped: () =>
    new Promise(resolveStop => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolveStop())
    }),
})
