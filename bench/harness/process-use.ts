// What a process has used, as Linux tells it.
import { readFile } from 'node:fs/promises'

/** The kernel counts processor time in hundredths of a second for everyone who asks. */
const TICK_SECONDS = 0.01

/** Seconds of processor time that all threads of a process took so far. */
export async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before may hold anything
  return (Number(fields[11]) + Number(fields[12])) * TICK_SECONDS
}

/** Most memory that a process has had so far, in MiB. */
export async function peakMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}
