// A sealer on stores in memory and a clock that the test sets, and what a reader finds who has everything of it.
import type { Redis } from 'ioredis'
import type { SignalContent } from '#core/contract/signal.ts'
import { commit } from '#signals/log/commit.ts'
import { type SealParts, sealOnce } from '#signals/seals/sealer.ts'
import type { ObjectHeaders, ObjectStore } from '#storage/object-store.ts'
import { chainFaults, openSeals, readOriginKeys, readSeals } from '#storage/seals/chain.ts'
import {
  beginningsOf,
  dateOf,
  type OpeningLine,
  openingText,
  readRecord,
  SEAL_MS,
} from '#storage/seals/seal.ts'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { signalContent } from './signals.ts'

export const BEGIN_MS = Date.parse('2026-11-20T23:30:07Z')

export type Scene = ReturnType<typeof sealScene>

/** `seal` seals what is due, and moves the clock on to when it was published. */
export function sealScene(redis: Redis, stores?: Pick<SealParts, 'store' | 'privateStore'>) {
  const clock = { ms: BEGIN_MS }
  const parts: SealParts = {
    ...{ redis, store: createMemoryStore('public'), privateStore: createMemoryStore('private') },
    ...stores,
    ...{ signer: createSigner(newPrivateKeyPem()), secret: 's'.repeat(32), now: () => clock.ms },
  }
  const until = async (ms: number): Promise<void> => {
    clock.ms = Math.max(clock.ms, ms)
  }
  let fired = 0
  return {
    clock,
    parts,
    until,
    seal: (changed: Partial<SealParts> = {}, wait = until) => sealOnce({ ...parts, ...changed }, wait),
    /** Fires one signal at the time of the clock, or so long before. */
    fire: (more: Partial<SignalContent> = {}, agoMs = 0) =>
      commit(redis, [{ content: signalContent(`s-${++fired}`, more), onlyFor: null }], clock.ms - agoMs),
    /** Goes on to the next seal that is due, or to the n-th. */
    next: (count = 1): void => {
      clock.ms += count * SEAL_MS - ((clock.ms - BEGIN_MS) % SEAL_MS)
    },
  }
}

/** What is wrong with the public chain and with what the records open of it, and the items that are opened. */
export async function readAll(stores: Pick<SealParts, 'store' | 'privateStore'>) {
  const read = (key: string) => stores.store.read(key)
  const seals = await readSeals(read)
  const keys = await readOriginKeys(read, seals)
  const records = await Promise.all(seals.map(({ seal }) => readRecord(stores.privateStore, seal.n)))
  const declared = beginningsOf(
    records.flatMap(record => record?.items.map(item => ({ n: record.n, item })) ?? []),
  )
  const lineOf = (n: number): OpeningLine => {
    if (declared.some(({ from, to }) => from <= n && n <= to)) return { n, lost: 'declared' }
    return records[n - 1] ?? { n, batch: 'missing', items: [] }
  }
  const opening = (date: string) => {
    const lines = seals.filter(({ seal }) => dateOf(seal) === date).map(({ seal }) => lineOf(seal.n))
    return Buffer.from(openingText({ date, day_key: '', stamps: [], lines }))
  }
  const opened = await openSeals(
    async key => opening(/(\S{10})\.jsonl$/.exec(key)?.[1] ?? ''),
    seals,
    '9999-12-31',
  )
  const faults = [...chainFaults(seals, origin => keys.get(origin) ?? null), ...opened.faults]
  return { seals, records, faults, items: opened.items.map(({ item }) => item), opened }
}

/** Shows every write to a store before it is made. */
export function watchWrites(
  store: ObjectStore,
  seen: (key: string, bytes: Uint8Array, headers: ObjectHeaders) => void,
): void {
  for (const name of ['create', 'replace'] as const) {
    const write = store[name].bind(store)
    Object.assign(store, {
      [name]: (key: string, bytes: Uint8Array, headers: ObjectHeaders) => {
        seen(key, bytes, headers)
        return write(key, bytes, headers)
      },
    })
  }
}

/** The same parts, whose operations on Redis and stores are run by `step`; what Redis does in one transaction is none. */
export function stepped(
  parts: SealParts,
  step: (run: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>,
): SealParts {
  const of = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(_, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        if (name === 'multi') return member.bind(target)
        return (...args: unknown[]) => step(async () => member.apply(target, args), args)
      },
    })
  return { ...parts, redis: of(parts.redis), store: of(parts.store), privateStore: of(parts.privateStore) }
}

/** What a sealer needs of a Redis, in this process, so that thousands of seals take seconds. Signals are entries of its `log`. */
export function memoryRedis() {
  const log: [id: string, fields: string[]][] = []
  const multi = { hset: () => multi, hdel: () => multi, exec: async () => [] }
  const xrange = async (_: string, from: string) => {
    const seq = Number.parseInt(from.replace('(', ''), 10)
    return from.startsWith('(') ? log.slice(seq, seq + 512) : log.slice(Math.max(0, seq - 1), seq)
  }
  const xrevrange = async (...args: [key: string, from: string, to: string, of: 'COUNT', count: number]) =>
    log.slice(-args[4]).toReversed()
  const commands = {
    ...{ log, xrange, xrevrange, lrange: async () => [], lindex: async () => null },
    ...{ hgetall: async () => ({}), zadd: async () => 1, get: async () => null, multi: () => multi },
  }
  return commands as unknown as Redis & { readonly log: typeof log } // as far as it is used
}
