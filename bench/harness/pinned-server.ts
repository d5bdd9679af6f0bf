// A server under load, alone on its core.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** The core of every server that is measured; the client has the other one. */
const SERVER_CORE = '0'

export type PinnedServer = {
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** Cores of a server: one, so that both sides have as much, or all that the machine has. */
export type Cores = 'one' | 'all'

/** Starts a program that tells its address in a line that `ready` finds it in. Rejects where it ends before. */
export async function startPinned(
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
  ready: RegExp,
  cores: Cores = 'one',
): Promise<PinnedServer> {
  const command = cores === 'one' ? ['taskset', '-c', SERVER_CORE, program] : ['env', program]
  const child = spawn(command[0]!, [...command.slice(1), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', line => {
      const [, found] = ready.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    ended.then(() => reject(new Error(`${program} ended before it was ready`)))
  })
  return {
    url,
    pid: child.pid ?? 0, // taskset and env become the program: the process is the server's own
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}
