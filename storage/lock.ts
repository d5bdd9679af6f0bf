import { hostname } from 'node:os'
import pLimit from 'p-limit'
import { z } from 'zod'
import { toIsoInstant } from '#core/calendar.ts'
import { sortedNumber } from '#core/contract/sorted-number.ts'
import { isFull, tolerate } from './error-code.ts'
import { PRIVATE_JSON, readSound, toAnswerBytes } from './json-bytes.ts'
import type { ObjectStore } from './object-store.ts'

/** `started` is when it took what it holds, ISO 8601. */
export const holder = z.object({ pid: z.int(), host: z.string(), started: z.string() })

/** The holder of a lock or a lease: enough to detect that its process ended, and to name it in messages. */
export type Holder = Readonly<z.infer<typeof holder>>

export const holderHere = (nowMs: number): Holder => ({
  pid: process.pid,
  host: hostname(),
  started: toIsoInstant(nowMs),
})

const lockRecord = holder.extend({ heartbeat_ms: z.number(), released: z.boolean() })

type LockRecord = z.infer<typeof lockRecord>

export type LockWorld = {
  readonly holder: Holder
  readonly now: () => number
  /** Whether a process of this host lives. */
  readonly isAlive: (pid: number) => boolean
}

/** How often a holder says that it still lives. */
const BEAT_MS = 15_000

/** A holder that was silent this long is gone, or another process has its pid. */
const STALE_MS = 5 * 60_000

export class LockedError extends Error {
  constructor(name: string, url: string, holder: Holder) {
    super(
      `another ${name} of ${url} is running: process ${holder.pid} on ${holder.host} since ${holder.started}; ` +
        'wait for it, or stop it, and run the command again (the lock of a process that ended is taken over)',
    )
    this.name = 'LockedError'
  }
}

export type Lock = ReturnType<typeof hold>

/**
 * Takes the lock `name` of a store. Throws LockedError while another living process holds it.
 *
 * The lock is a row of write-once objects `lock/<name>/<number>`: the highest number is the holder, and the
 * process that creates the next number has taken it over. So two processes that find the same stale lock
 * cannot both win, which deleting and re-creating one file would allow.
 */
export async function acquireLock(store: ObjectStore, name: string, world: LockWorld): Promise<Lock> {
  const keys = await store.list(`lock/${name}/`)
  const highest = keys.at(-1)
  const current = highest === undefined ? null : await readRecord(store, highest)
  if (current !== null && isHeld(current, world)) throw new LockedError(name, store.url, current)
  const key = `lock/${name}/${sortedNumber(Number(highest?.split('/').at(-1) ?? 0) + 1)}`
  const create = () => store.create(key, toRecord(world, false), PRIVATE_JSON)
  const isTaken = await create().catch(async (error: unknown) => {
    if (highest === undefined || !isFull(error)) throw error
    // The record before is of no holder any more, and as large: `prune` needs the lock to free more.
    await store.remove(highest)
    return create()
  })
  if (!isTaken) throw new LockedError(name, store.url, (await readRecord(store, key)) ?? world.holder)
  await assertHighest(store, name, key)
  for (const old of keys) await store.remove(old)
  return hold(store, name, key, world)
}

/** Keeps a lock that was just taken alive until it is released. */
function hold(store: ObjectStore, name: string, key: string, world: LockWorld) {
  const inTurn = pLimit(1) // a slow heartbeat must not land after the release
  const write = (released: boolean): Promise<void> =>
    inTurn(() => store.replace(key, toRecord(world, released), PRIVATE_JSON))
  const beat = setInterval(() => tolerate(write(false), 'a missed heartbeat only ages the lock'), BEAT_MS)
  beat.unref()
  return {
    /** Throws if another process took the lock over (a laptop slept). Call it right before: nobody does in five minutes. */
    async assertHeld(): Promise<void> {
      await write(false) // first: from then on other processes find the lock held
      if ((await highestKey(store, name)) === key) return
      throw new Error(
        `this ${name} of ${store.url} was silent for more than ${STALE_MS / 60_000} minutes, and another has begun since: the ` +
          'pointer was left alone; run the command again',
      )
    },
    release(): Promise<void> {
      clearInterval(beat)
      return write(true)
    },
  }
}

const highestKey = async (store: ObjectStore, name: string): Promise<string | undefined> =>
  (await store.list(`lock/${name}/`)).at(-1)

/** The start of a holder that fell silent without releasing the lock, as a process that was killed; else null. */
export async function readAbandoned(store: ObjectStore, name: string, nowMs: number): Promise<string | null> {
  const key = await highestKey(store, name)
  const record = key === undefined ? null : await readRecord(store, key)
  return record === null || record.released || nowMs - record.heartbeat_ms <= STALE_MS ? null : record.started
}

/** A process with an old listing can create a number again that was removed; a higher number shows that. */
async function assertHighest(store: ObjectStore, name: string, key: string): Promise<void> {
  const highest = (await highestKey(store, name)) ?? key
  if (highest <= key) return
  await store.remove(key)
  const record = await readRecord(store, highest)
  throw record === null
    ? new Error(`the lock ${name} of ${store.url} changed hands at this moment; run the command again`)
    : new LockedError(name, store.url, record)
}

const isHeld = (record: LockRecord, world: LockWorld): boolean => {
  if (record.released || world.now() - record.heartbeat_ms > STALE_MS) return false
  return record.host !== world.holder.host || world.isAlive(record.pid)
}

const toRecord = (world: LockWorld, released: boolean): Uint8Array =>
  toAnswerBytes({ ...world.holder, heartbeat_ms: world.now(), released } satisfies LockRecord)

const readRecord = (store: ObjectStore, key: string): Promise<LockRecord | null> =>
  readSound(store, key, lockRecord, NO_RECORD)

const NO_RECORD =
  'is not a lock record, so its holder is unknown: make sure that no other command works on the store, remove the ' +
  'object, and run the command again'
