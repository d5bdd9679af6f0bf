import { hostname } from 'node:os'
import { toIsoInstant } from '#core/calendar.ts'
import { acquireLock, type Lock } from '#storage/lock.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { isAlive } from '#storage/open-store.ts'
import type { Surroundings } from './surroundings.ts'
import type { Terminal } from './terminal.ts'

/**
 * Runs something under the lock of the public store, because that is where the pointer is: one process at a time moves
 * it or removes what it names. Another `name` is another lock.
 */
export async function withStoreLock<Result>(
  store: ObjectStore,
  { now }: Surroundings,
  terminal: Terminal,
  run: (lock: Lock) => Promise<Result>,
  name = 'build',
): Promise<Result> {
  const lock = await acquireLock(store, name, {
    holder: { pid: process.pid, host: hostname(), started: toIsoInstant(now()) },
    now,
    isAlive,
  })
  try {
    return await run(lock)
  } finally {
    await release(lock, terminal)
  }
}

/** How the work ended matters more than a lock that was not given back: the next one takes it over. */
async function release(lock: Lock, terminal: Terminal): Promise<void> {
  try {
    await lock.release()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    terminal.note(`warning: the lock was not given back, and the next build takes it over: ${reason}`)
  }
}
