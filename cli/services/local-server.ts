// A server of another project, run by one of our scripts on this machine until it is stopped.
import { type ChildProcess, spawn } from 'node:child_process'

export type LocalServer = Awaited<ReturnType<typeof startLocalServer>>

/**
 * Starts a script that prints `ready URL [PID]` and ends with its standard input. `ended` resolves when it ended, by
 * itself or because it was stopped. Rejects if it ends before it is ready.
 */
export async function startLocalServer(script: string, args: readonly string[]) {
  // In its own process group: Ctrl-C in a terminal reaches the whole group, and a server must outlive its users.
  const child = spawn(script, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve())
  })
  const { url, pid } = await readiness(child, ended, script)
  child.stdin.once('error', () => {}) // it has ended already, which is what was wanted
  const stop = (): Promise<void> => {
    child.stdin.end()
    return ended
  }
  return { url, pid, stop, ended }
}

/** The printed address, such as `redis://127.0.0.1:6390`, and the process of the server, if printed. */
function readiness(
  child: ChildProcess,
  ended: Promise<void>,
  script: string,
): Promise<{ readonly url: string; readonly pid: number | null }> {
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      const [, url, pid] = /^ready (\S+)(?: (\d+))?$/m.exec(printed) ?? []
      if (url !== undefined) resolve({ url, pid: pid === undefined ? null : Number(pid) })
    })
    ended.then(() => reject(new Error(`${script} ended before it was ready; its output is above`)), reject)
  })
}
