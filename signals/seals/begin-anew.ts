// A chain that cannot be continued as it was goes on under a new origin, and says so in its first item.
import { toIsoInstant } from '#core/calendar.ts'
import { openingKey, SEALS_PREFIX } from '#core/contract/seals.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import { IMMUTABLE_JSON } from '#storage/object-store.ts'
import { type PublicSeal, readNewestSeal, readSeals } from '#storage/seals/chain.ts'
import * as seals from '#storage/seals/seal.ts'
import { assertNoService } from '../log/guard.ts'
import { askAll } from '../redis/connect.ts'
import { SEAL_STATE, SEALS } from '../redis/keys.ts'
import { assertMaySeal, publish, refusalOf, type SealParts, toNextRecord } from './sealer.ts'

/**
 * Writes the record of the next seal, under a new origin: its first item names the chain before, and what of that can never be
 * opened. A record that was made before is published first if its key is there, and otherwise made again. Throws if a service is
 * running, or the sealer would go on by itself.
 */
export async function beginAnew(parts: SealParts, why: string, by: string) {
  const { redis, store, privateStore, signer, now } = parts
  await assertNoService(redis)
  await assertStuck(parts)
  const newest = await finish(parts)
  const { n, toMs: fromMs } = newest.seal
  if (now() < fromMs)
    throw new Error(
      `seal ${n} ends at ${toIsoInstant(fromMs)}, and it is ${toIsoInstant(now())}: set the clock`,
    )
  const { last, lost } = await readRecords(parts, n)
  const at = toIsoInstant(now())
  const first = seals.beginningItems(newest, signer.keyId, lost, { by, why, at })
  const toMs = (Math.floor(now() / seals.SEAL_MS) + 1) * seals.SEAL_MS
  const seal = { n: n + 1, origin: seals.originOf(signer.keyId, at), fromMs, toMs }
  const record = await toNextRecord(parts, seal, last, first)
  await privateStore.replace(seals.recordKey(n + 1), toJsonBytes(record), IMMUTABLE_JSON)
  const state = { n, to: fromMs, refused: '', at: now() }
  const step = redis.multi().hset(SEAL_STATE, state).hdel(SEAL_STATE, 'restored')
  await askAll(lost.length > 0 ? step.del(SEALS) : step) // the service fills it again
  return { n: n + 1, origin: record.origin, lost, store: store.url }
}

/** A new origin alarms every reader: no chain gets one that can go on. */
async function assertStuck(parts: SealParts): Promise<void> {
  const may = await assertMaySeal(parts).catch(refusalOf)
  if (typeof may === 'string' || may.newest === null) return
  const { newest, pending } = may
  const isPending = pending !== null && pending.origin !== newest.seal.origin
  throw new Error(
    isPending
      ? `seal ${pending.n} begins the chain anew already: start the signals service, which publishes it`
      : 'the chain can go on: there is nothing to begin anew',
  )
}

/** The newest seal, after those of which the record was made. */
async function finish(parts: SealParts): Promise<PublicSeal> {
  const { store, signer, now } = parts
  let newest = await readNewestSeal(key => store.read(key))
  for (;;) {
    if (newest === null)
      throw new Error(`${store.url} has no seals: \`highwater serve signals\` begins a chain`)
    const next = await seals.readRecord(parts.privateStore, newest.seal.n + 1)
    const isReady =
      next !== null && seals.keyIdOf(next.origin) === signer.keyId && Date.parse(next.to) <= now()
    if (!isReady) return newest
    newest = await publish(parts, next, newest)
  }
}

/**
 * The newest sound record, null without any, and the seals up to `n` that are not opened and have none, newest first. A seal that
 * was removed after its day is taken to have its own.
 */
async function readRecords(parts: SealParts, n: number) {
  const { store, privateStore } = parts
  const all = await readSeals(key => store.read(key))
  const opened = (await store.list(`${SEALS_PREFIX}openings/`)).at(-1) ?? ''
  const done = all.findLast(({ seal }) => openingKey(seals.dateOf(seal)) <= opened)?.seal.n ?? 0
  const byNumber = new Map(all.map(each => [each.seal.n, each]))
  const keys = new Set(await privateStore.list('seals/'))
  const lost: { lost_from: number; lost_to: number }[] = []
  let last: seals.SealRecord | null = null
  for (let at = n; at > done || (at > 0 && last === null); at--) {
    const record = keys.has(seals.recordKey(at)) ? await seals.readRecord(privateStore, at) : null
    const seal = byNumber.get(at)
    if (record !== null && (seal === undefined || seals.isRecordOf(record, seal))) last ??= record
    else if (at > done && lost.at(-1)?.lost_from === at + 1) lost.at(-1)!.lost_from = at
    else if (at > done) lost.push({ lost_from: at, lost_to: at })
  }
  return { last, lost }
}
