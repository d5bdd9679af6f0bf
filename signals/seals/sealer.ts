// The sealer: what was acknowledged goes into a private record, and its digest into a public seal (docs/decisions/2026-11-27-seals.md).
// Every step can be repeated, by this process or another one, and then writes the same bytes.
import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { SEAL_HEAD_CACHING, SEAL_HEAD_KEY, sealDayKey, sealKey } from '#core/contract/seals.ts'
import { sha256 } from '#storage/digest.ts'
import { messageOf, tolerate } from '#storage/error-code.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import {
  IMMUTABLE_JSON,
  IMMUTABLE_TEXT,
  type ObjectStore,
  StoreError,
  type Stores,
} from '#storage/object-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { type PublicSeal, readNewestSeal, readOriginKeys, readSeal } from '#storage/seals/chain.ts'
import * as seals from '#storage/seals/seal.ts'
import type { Signer } from '#storage/signature.ts'
import { readAfter, readBefore, readSignal } from '../log/read-log.ts'
import { askAll, askRedis } from '../redis/connect.ts'
import { SEAL_EVENTS, SEAL_STATE, SEALS } from '../redis/keys.ts'

/** How long after `to` a record is made: a commit that began before `to` is in the log by then. */
export const RECORD_AFTER_MS = 5_000

/** How long after that the public is written: the time of the write says nothing of the work before. */
export const PUBLISH_AFTER_MS = 15_000

export type SealParts = Stores & {
  readonly redis: Redis
  /** The key of the chain: not the one that signs versions. */
  readonly signer: Signer
  readonly secret: string
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Something shows that the sealer is behind, or that another one is at work; has the fault and what to do. */
export class SealRefusedError extends Error {
  override readonly name = 'SealRefusedError'
}

/** Why the sealer refuses. Throws any other error. */
export function refusalOf(error: unknown): string {
  if (error instanceof SealRefusedError) return error.message
  throw error
}

const ANEW = 'if there is none, `highwater seals begin-anew --reason TEXT` goes on without'
const bring = (what: string) => `bring back the newest copy of ${what}; ${ANEW}`

function refuse(fault: string, remedy: string): never {
  throw new SealRefusedError(`nothing is sealed: ${fault}: ${remedy}`)
}

/**
 * The newest seal, its record, and that of the next one if it was made. Throws SealRefusedError if the chain may not be continued;
 * writes nothing.
 */
export async function assertMaySeal(parts: SealParts) {
  const { redis, store, privateStore, signer, now } = parts
  const state = await askRedis(() => redis.hgetall(SEAL_STATE)) // first: another sealer may publish meanwhile
  const newest = await readNewestSeal(key => store.read(key)).catch((error: Error) => {
    throw error instanceof StoreError ? error : new SealRefusedError(error.message)
  })
  const n = newest?.seal.n ?? 0
  const record = await seals.readRecord(privateStore, n)
  const pending = await seals.readRecord(privateStore, n + 1)
  if (pending === null && Number(state.n ?? 0) > n)
    refuse(`${store.url} ends with seal ${n}, and seal ${state.n} was published`, bring('it'))
  if (newest !== null) {
    const { toMs, origin } = newest.seal
    const times = `seal ${n} ends at ${toIsoInstant(toMs)}, and it is ${toIsoInstant(now())}`
    const other = `${privateStore.url}/${seals.recordKey(n)} is not the record of the newest seal`
    const isAnew = pending !== null && pending.origin !== origin // whatever the seal before is
    if (state.restored)
      refuse(`Redis is a backup of ${state.restored}, and the stores may be as old`, bring('both stores'))
    if (now() < toMs) refuse(times, 'set the clock, or wait until then')
    if (!isAnew) await assertSound(store, newest)
    if (!isAnew && (record === null || !seals.isRecordOf(record, newest)))
      refuse(other, bring('the private store'))
    if (pending === null && record !== null) await assertKept(redis, record)
    const entry = (await readHead(store))?.entry.seq ?? 0
    if (pending === null && entry < newest.seal.entrySeq)
      refuse(`the log of versions ends with entry ${entry}, before that of seal ${n}`, ANEW)
  }
  const id = seals.keyIdOf((pending ?? record)?.origin ?? `/${signer.keyId}`)
  if (id !== signer.keyId)
    refuse(`the key of the chain is ${id}, and that of SEAL_KEY_FILE ${signer.keyId}`, bring('the key'))
  return { newest, record, pending }
}

/** Refuses unless the key of its origin signed a seal, and it continues the one before, if that was not removed after its day. */
async function assertSound(store: ObjectStore, newest: PublicSeal): Promise<void> {
  const { n, origin, prev } = newest.seal
  const pem = (await readOriginKeys(key => store.read(key), [newest])).get(origin)
  const before = n === 1 ? null : await store.read(sealKey(n - 1))
  const isSigned = pem !== undefined && seals.sealCheck(pem)(newest.bytes)
  if (isSigned && (before === null || seals.digestOfSeal(before) === prev)) return
  const fault = `seal ${n} is not signed, or does not continue seal ${n - 1}`
  refuse(fault, bring(`${store.url}, which was altered`))
}

/** Refuses if Redis has not the last signal or event of a record, or with other bytes. */
async function assertKept(redis: Redis, record: seals.SealRecord): Promise<void> {
  const lacks = (what: string) => refuse(`Redis has not the ${what} that was sealed`, bring('Redis'))
  if (!(await hasLastSignal(redis, record))) lacks(`signal ${seals.lastSeqOf(record)}`)
  if (!(await hasLastEvent(redis, record))) lacks(`event ${record.events} of a strategy`)
}

const hasLastSignal = async (redis: Redis, record: seals.SealRecord): Promise<boolean> =>
  isOf((await readSignal(redis, seals.lastSeqOf(record)))?.body, record.last_signal)

const hasLastEvent = async (redis: Redis, { events, last_event }: seals.SealRecord) =>
  isOf(await askRedis(() => redis.lindex(SEAL_EVENTS, events - 1)), last_event)

const isOf = (found: string | null | undefined, digest: string | undefined): boolean =>
  digest === undefined || (found != null && sha256(found) === digest)

/**
 * Makes and publishes the next seal, or finishes one of which the record was made, and resolves with it; null if none is due.
 * `until` resolves at an instant. Throws SealRefusedError, RedisDownError or StoreError: nothing is lost, call it again later.
 */
export async function sealOnce(parts: SealParts, until: (ms: number) => Promise<void>) {
  const begunMs = parts.now()
  const { newest, record: last, pending } = await assertMaySeal(parts)
  if (newest !== null) await putHead(parts.store, newest)
  const record = pending ?? (await makeRecord(parts, newest, last))
  if (record === null || Date.parse(record.to) > parts.now()) return null
  await index(parts.redis, record)
  const earliest = Math.max(Date.parse(record.to) + RECORD_AFTER_MS, begunMs) + PUBLISH_AFTER_MS
  const steps = Math.ceil(Math.max(0, parts.now() - earliest) / PUBLISH_AFTER_MS) // of work that took longer
  await until(earliest + steps * PUBLISH_AFTER_MS)
  return publish(parts, record, newest)
}

async function makeRecord(parts: SealParts, newest: PublicSeal | null, last: seals.SealRecord | null) {
  const toMs = Math.floor((parts.now() - RECORD_AFTER_MS) / seals.SEAL_MS) * seals.SEAL_MS
  const fromMs = newest?.seal.toMs ?? toMs - seals.SEAL_MS
  if (toMs <= fromMs) return null
  const origin = last?.origin ?? seals.originOf(parts.signer.keyId, toIsoInstant(parts.now()))
  const n = (newest?.seal.n ?? 0) + 1
  const record = await toNextRecord(parts, { n, origin, fromMs, toMs }, last)
  const key = seals.recordKey(n)
  await parts.privateStore.create(key, toJsonBytes(record), IMMUTABLE_JSON)
  const found = await seals.readRecord(parts.privateStore, n) // another sealer may have been first
  return found ?? refuse(`${parts.privateStore.url}/${key} is damaged`, `restore it; ${ANEW}`)
}

/** Read at once. */
const BLOCK = 512

/** The number of the last signal before an instant; as many as are in a block belong to it at most. */
async function lastBefore(redis: Redis, ms: number): Promise<number> {
  const block = await readBefore(redis, Number.MAX_SAFE_INTEGER, BLOCK)
  return (block.find(({ atMs }) => atMs < ms) ?? block[BLOCK - 1])?.seq ?? 0
}

/**
 * What the records before have, by what Redis has: how many events, and which was the last signal. A restored Redis may lack that,
 * and has the events up to one that is in both.
 */
async function progressAfter(
  { redis, privateStore }: SealParts,
  last: seals.SealRecord | null,
  fromMs: number,
) {
  if (last === null) return { events: 0, after: await lastBefore(redis, fromMs) }
  let at: seals.SealRecord | null = last
  while (at !== null && !(await hasLastEvent(redis, at))) at = await seals.readRecord(privateStore, at.n - 1)
  const last_signal = (await hasLastSignal(redis, last)) ? last.last_signal : undefined
  return { after: seals.lastSeqOf(last), events: at?.events ?? 0, last_event: at?.last_event, last_signal }
}

/**
 * The record of a seal: everything that was acknowledged before `toMs` and after `last`, behind the items `first`. The key is that
 * of `last` on the same day, so that a day has one key even if the secret changes.
 */
export async function toNextRecord(
  parts: SealParts,
  { n, origin, fromMs, toMs }: Pick<seals.Seal, 'n' | 'origin' | 'fromMs' | 'toMs'>,
  last: seals.SealRecord | null,
  first: readonly string[] = [],
): Promise<seals.SealRecord> {
  const { redis, store, secret } = parts
  const from = await progressAfter(parts, last, fromMs)
  const signals = await signalsBetween(redis, from.after, toMs)
  const listed = await askRedis(() => redis.lrange(SEAL_EVENTS, from.events, -1))
  const isLater = (event: string) => Date.parse(JSON.parse(event).at) >= toMs
  const events = listed.slice(0, listed.findIndex(isLater) >>> 0) // -1 is all
  const [signal, event, date] = [signals.at(-1), events.at(-1), seals.dateOf({ toMs })]
  const facts = {
    ...{ n, origin, from: toIsoInstant(fromMs), to: toIsoInstant(toMs) },
    ...seals.entryFacts(await readHead(store)),
    day_key: last?.to.slice(0, 10) === date ? last.day_key : seals.dayKeyOf(secret, date),
    events: from.events + events.length,
    last_signal: signal === undefined ? from.last_signal : sha256(signal),
    last_event: event === undefined ? from.last_event : sha256(event),
  }
  return seals.toRecord(facts, from.after, [...first, ...signals, ...events])
}

/** The signals above a number, as they were delivered, up to the first one that is not before an instant. */
async function signalsBetween(redis: Redis, after: number, toMs: number): Promise<readonly string[]> {
  const block = await readAfter(redis, after, BLOCK)
  const ready = block.slice(0, block.findIndex(({ atMs }) => atMs >= toMs) >>> 0) // -1 is all
  const rest = ready.length < BLOCK ? [] : await signalsBetween(redis, ready.at(-1)!.seq, toMs)
  return [...ready.map(({ body }) => body), ...rest]
}

/** The seal of a record with signals can be found by the number of a signal. */
async function index(redis: Redis, record: seals.SealRecord): Promise<void> {
  const last = seals.lastSeqOf(record)
  if (last > seals.lastSeqOf({ ...record, items: [] }))
    await askRedis(() => redis.zadd(SEALS, last, record.n))
}

/** Puts into the index what a restored Redis lacks: the records back to the newest that it has. */
export async function repairIndex(parts: SealParts): Promise<void> {
  const [, top = '0'] = await askRedis(() => parts.redis.zrevrange(SEALS, 0, 0, 'WITHSCORES'))
  const newest = await readNewestSeal(key => parts.store.read(key))
  for (let n = newest?.seal.n ?? 0; n > 0; n--) {
    const record = await seals.readRecord(parts.privateStore, n)
    if (record !== null && seals.lastSeqOf(record) <= Number(top)) return
    if (record !== null) await index(parts.redis, record)
  }
}

/** `newest` is the seal before. The head is last: what it names is there. */
export async function publish(
  { redis, store, signer, now }: SealParts,
  record: seals.SealRecord,
  newest: PublicSeal | null,
) {
  const seal = seals.sealOf(record, newest?.digest ?? seals.NO_DIGEST)
  const bytes = seals.signSeal(seal, signer)
  if (newest?.seal.origin !== seal.origin)
    await createOnce(store, seals.keyOfOrigin(seal.origin), Buffer.from(signer.publicKeyPem))
  if (newest !== null && seals.dateOf(newest.seal) !== seals.dateOf(seal))
    await createOnce(store, sealDayKey(seals.dateOf(newest.seal)), await dayOf(store, newest))
  await createOnce(store, sealKey(seal.n), bytes)
  const published = { seal, bytes, digest: seals.digestOfSeal(bytes) }
  if (!(await store.has(sealKey(seal.n + 1)))) await putHead(store, published) // a slower one of two sealers
  const state = { n: seal.n, to: seal.toMs, refused: '', at: now() }
  await askAll(redis.multi().hset(SEAL_STATE, state).hdel(SEAL_STATE, 'restored'))
  return published
}

const isAt = async (store: ObjectStore, key: string, bytes: Uint8Array): Promise<boolean> =>
  Buffer.compare((await store.read(key)) ?? new Uint8Array(), bytes) === 0

/** Creates an object, or makes sure that it is there with these bytes. */
async function createOnce(store: ObjectStore, key: string, bytes: Uint8Array): Promise<void> {
  if ((await store.create(key, bytes, IMMUTABLE_TEXT)) || (await isAt(store, key, bytes))) return
  const remedy = `stop a sealer with another private store, and restore it; ${ANEW}`
  refuse(`${store.url}/${key} has other bytes`, remedy)
}

/** The seals of the day that the newest one ends. */
async function dayOf(store: ObjectStore, newest: PublicSeal): Promise<Uint8Array> {
  const day: Uint8Array[] = []
  for (let at = newest; seals.dateOf(at.seal) === seals.dateOf(newest.seal); ) {
    day.unshift(at.bytes)
    const key = sealKey(at.seal.n - 1)
    if (at.seal.n === 1) break
    at = (await readSeal(k => store.read(k), key)) ?? refuse(`${store.url}/${key} is missing`, 'restore it')
  }
  return Buffer.concat(day)
}

async function putHead(store: ObjectStore, { bytes }: PublicSeal): Promise<void> {
  const headers = { ...IMMUTABLE_TEXT, cache_control: SEAL_HEAD_CACHING }
  if (!(await isAt(store, SEAL_HEAD_KEY, bytes))) await store.replace(SEAL_HEAD_KEY, bytes, headers)
}

// The rhythm: beside the relay, every ten minutes, whatever there is to seal.

/** How often it is looked whether the lease is ours by now. */
const LOOK_MS = 5_000

/** What failed is tried again after this time. */
const RETRY_MS = 60_000

type SealerWorld = SealParts & {
  /** Whether this process has the lease of the relay. */
  readonly hasLease: () => Promise<boolean>
  /** Throws if the clock may be wrong. */
  readonly assertClock: () => Promise<void>
  /** Resolves after so many milliseconds, or when stopped. */
  readonly pause: (ms: number) => Promise<void>
  /** Has the time of the seals up to this one proven, as far as that is wanted. */
  readonly anchor: (n: number) => Promise<void>
  readonly stop: AbortSignal
  readonly onError: (error: unknown) => void
}

/** Seals until it is stopped. Never rejects. */
export async function runSealer(world: SealerWorld): Promise<void> {
  const { now, stop, pause, onError } = world
  let done: number | null = null // the last interval that is sealed
  while (!stop.aborted) {
    const due = Math.floor((now() - RECORD_AFTER_MS) / seals.SEAL_MS)
    const nextMs = (due + 1) * seals.SEAL_MS + RECORD_AFTER_MS
    try {
      if (due !== done && (await world.hasLease())) {
        await sealAll(world)
        if (done === null) await repairIndex(world)
        done = due
      }
      await pause(Math.min(nextMs - now(), LOOK_MS))
    } catch (error) {
      if (stop.aborted) return
      onError(error)
      await tolerate(noteRefusal(world, messageOf(error)), 'the log of the service says the same')
      await pause(RETRY_MS)
    }
  }
}

/** Why nothing is sealed, from which the alert follows. */
export const noteRefusal = ({ redis, now }: Pick<SealParts, 'redis' | 'now'>, refused: string) =>
  askAll(redis.multi().hsetnx(SEAL_STATE, 'n', 0).hset(SEAL_STATE, { refused, at: now() }))

/** Several are due if one was made and not published. */
async function sealAll(world: SealerWorld): Promise<void> {
  const { now, stop, pause, anchor, onError } = world
  const until = async (ms: number): Promise<void> => {
    while (now() < ms && !stop.aborted) await pause(Math.min(ms - now(), LOOK_MS))
    stop.throwIfAborted() // the record stays, and the next start publishes it
  }
  for (;;) {
    await world.assertClock()
    const sealed = await sealOnce(world, until)
    if (sealed === null) return
    await anchor(sealed.seal.n).catch(onError)
  }
}
