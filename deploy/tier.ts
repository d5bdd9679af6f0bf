import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Address } from './site.ts'

const COMMAND = join(import.meta.dirname, '../cli/highwater.ts')

/** The tier as a process. */
export type Tier = {
  /** Resolves when it listens; never where it ends before. */
  readonly address: Promise<Address>
  readonly ended: Promise<void>
  /** Calls `follow` each time another version is served from now on. */
  readonly onSwap: (follow: () => void) => void
  readonly stop: () => Promise<void>
}

/** Starts `highwater run`, which builds the sample book where nothing is published yet; `tell` gets what it prints. */
export function startTier(env: NodeJS.ProcessEnv, tell: (line: string) => void): Tier {
  const child = spawn(process.execPath, [COMMAND, 'run', '--history-only'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  const lines = [child.stdout, child.stderr].map(input => createInterface({ input }))
  const onLine = (take: (line: string) => void): void => {
    for (const stream of lines) stream.on('line', take)
  }
  onLine(tell)
  const address = new Promise<Address>(resolve => {
    onLine(line => {
      const [, host, port] = /^history service on http:\/\/(\S+):(\d+)$/.exec(line) ?? []
      if (host !== undefined) resolve({ host, port: Number(port) })
    })
  })
  return {
    address,
    ended,
    onSwap: follow => onLine(line => (line.includes('swapped ') ? follow() : undefined)),
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}
