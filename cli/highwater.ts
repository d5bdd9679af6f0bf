// The entry file: here, and nowhere else, the program meets its clock, its environment and its terminal.
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { runCommand } from './program.ts'
import { createTerminal } from './terminal.ts'

const elapsed = (): number => performance.now()

// Who reads only the beginning, as `head` does, ends nothing: what is left to say is dropped, and the work goes on.
process.stdout.on('error', error => {
  if (!('code' in error && error.code === 'EPIPE')) throw error
})

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  root: resolve(import.meta.dirname, '..'),
  cwd: process.cwd(),
  now: () => Date.now(),
  elapsed,
  pause: ms => setTimeout(ms),
  random: () => Math.random(),
  drawBytes: randomBytes,
  cores: availableParallelism(),
  logStream: process.stdout,
  terminal: createTerminal({ out: process.stdout, err: process.stderr, elapsedMs: elapsed }),
  // Every further signal is heard and changes nothing: a launcher and a terminal may both send one.
  untilStopped: () =>
    new Promise(resolveStop => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolveStop())
    }),
})
