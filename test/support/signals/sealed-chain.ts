// What a client may be shown of a chain of seals, the same for every client, and a service whose signals are sealed.
import type { Redis } from 'ioredis'
import { SEALS_PREFIX, sealNumber } from '#core/contract/seals.ts'
import { readSignal } from '#signals/log/read-log.ts'
import { SEALS } from '#signals/redis/keys.ts'
import { batchSalt, itemSalt, lastSeqOf, originOf, seqOf, signSeal } from '#storage/seals/seal.ts'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import type { Receipt, SealState } from '../../../clients/typescript/src/index.ts'
import { createMemoryStores } from '../books/publish-in-memory.ts'
import { start } from '../http/raw-server.ts'
import { type Chain, createChain, eventItem, signalItem } from '../seals/chain.ts'
import { signalsParts } from './signals-app.ts'

/** Seal 3 is the last one of its day. */
const BEGIN = '2026-11-20T23:20:00Z'

/** What the service answers about every signal. */
export const receiptsOf = ({ all }: Chain): Receipt[] =>
  all.flatMap(({ record: { n, day_key, batch, items } }) =>
    items.flatMap((item, i) => {
      const seq = seqOf(item)
      if (seq === null) return []
      return [{ seq, n, r: itemSalt(day_key, item, n, i), s_n: batchSalt(day_key, n), batch }]
    }),
  )

/** A public side that is served but for what is in `hidden`, and a private one; `changes` are the parts of a service beside them. */
export async function startSealed(redis: Redis) {
  const chain = createChain(createMemoryStores(), BEGIN)
  const hidden = new Set<string>()
  const { url } = await start(async request => {
    const key = new URL(request.url).pathname.slice(1)
    const bytes = hidden.has(key.slice(SEALS_PREFIX.length)) ? null : await chain.store.read(key)
    return new Response(bytes && Buffer.from(bytes), { status: bytes === null ? 404 : 200 })
  })
  const settings = { ...signalsParts(redis).parts.settings, historyBaseUrl: url }
  return {
    ...{ chain, hidden, url, changes: { privateStore: chain.privateStore, settings } },
    /** Seals signals of the log by their numbers, or other items. */
    async seal(...items: (number | string)[]): Promise<void> {
      const bodies = items.map(async item =>
        typeof item === 'string' ? item : (await readSignal(redis, item))!.body,
      )
      const { record } = await chain.seal(await Promise.all(bodies))
      if (items.length > 0) await redis.zadd(SEALS, lastSeqOf(record), record.n)
    },
  }
}

type Shown = {
  readonly receipts: readonly Receipt[]
  readonly delivered: Readonly<Record<string, string>>
  /** The public side by the names below `v1/seals/`. */
  readonly objects: Readonly<Record<string, string>>
  readonly state: SealState
}

/** `says` is the fault that the client finds, or the signal up to which all is right and the newest seal. */
export type SealCase = Shown & { readonly name: string; readonly says: string | readonly [number, number] }

/** A signal whose bytes are not those that JSON.stringify makes of it. */
const itemOf = (seq: number, more = {}): string => signalItem(seq, more).replace('":', '": ')

const OTHER = 'another chain is shown to you than before'
const ALTERED = 'it was altered'
const FORKED = 'seal 5 does not continue seal 4: one of the two was altered, or the chain was forked'
const notSeen = (n: number) => `seal ${n} is not the one that you saw: ${OTHER}`
const notSigned = (n: number) => `seal ${n} is not signed by the key that you know: ${OTHER}`

/** Four seals on two days, with signals 1 to 4 and an event; then what a publisher may change, or a client have seen before. */
export async function sealCases(): Promise<readonly SealCase[]> {
  const signer = createSigner(newPrivateKeyPem())
  const halt = eventItem('halt', '*', BEGIN, { why: 'a }"{ strange market' })
  const made = async (upTo: number, change: (chain: Chain) => unknown = () => {}) => {
    const chain = createChain(createMemoryStores(), BEGIN, { signer })
    const batches = [[halt, itemOf(1)], [itemOf(2)], [], [itemOf(3), itemOf(4)]]
    for (const items of batches.slice(0, upTo)) await chain.seal(items)
    await change(chain)
    const objects: Record<string, string> = {}
    for (const key of await chain.store.list(SEALS_PREFIX))
      objects[key.slice(SEALS_PREFIX.length)] = Buffer.from((await chain.store.read(key))!).toString()
    return { chain, objects }
  }
  const { chain, objects } = await made(4)
  const receipts = receiptsOf(chain)
  const delivered = Object.fromEntries([1, 2, 3, 4].map(seq => [seq, itemOf(seq)]))
  /** What a client knows that has seen so many seals. */
  const knows = (n: number, checked_seq: number, more: Partial<SealState> = {}): SealState => {
    const { digest, seal } = chain.all[n - 1]!
    const head = { n, digest, origin: seal.origin, key: signer.publicKeyPem }
    return { checked_seq, head, ...more }
  }
  const state = knows(4, 4)
  const receipt = (seq: number, change: (of: Receipt) => Partial<Receipt>) =>
    receipts.map(each => (each.seq === seq ? { ...each, ...change(each) } : each))
  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(objects).filter(([name]) => !names.includes(name)))
  const three = (await made(3)).objects
  const elsewhere = (await made(2, other => other.seal([itemOf(3)]))).objects
  const forged = await made(3, other => other.seal().then(() => other.seal()))
  const fork = { ...forged.objects, [sealNumber(4)]: objects[sealNumber(4)]! }
  const eleven = await made(4, async other => {
    for (let n = 5; n <= 11; n++) await other.seal()
  })
  const anew = await made(4, other => other.seal([`${other.beginAnew()}`]))
  const five = await made(4, other => other.seal())
  const resigned = signSeal(five.chain.all[4]!.seal, createSigner(newPrivateKeyPem()))
  const longer = ({ r }: Receipt) => ({
    r: Buffer.from(`${Buffer.from(r, 'base64').toString('latin1')}{`, 'latin1').toString('base64'),
  })
  const waits = (n: number) => ({
    objects: eleven.objects,
    delivered: { 5: itemOf(5) },
    state: knows(4, 4, { waiting: { seq: 5, n } }),
  })
  const right = [4, 4] as const
  const altered = (seq: number, n: number) =>
    `signal ${seq} as it was delivered is not in the batch of seal ${n}: ${ALTERED}`
  const later = (seq: number, n: number) =>
    `the batch of signal ${seq} is not what seal ${n} commits to: ${ALTERED} later`
  const line = `${'0'.repeat(64)}\n`
  const batched = (seq: number, change: (batch: string) => string) => ({
    receipts: receipt(seq, ({ batch }) => ({ batch: change(batch) })),
  })
  const origins = [originOf(signer.keyId, '2026-11-21T00:00:00Z'), chain.all[0]!.seal.origin]
  const begun = `seal 5 is of ${origins.join(', not of ')}: another chain began; ask why`
  const strange = (seq: number) => `the batch of signal ${seq} has another form: ${ALTERED}`
  const leftOut = (seq: number, n: number) =>
    `signal ${seq} was delivered to you, and no seal up to ${n} has it: it was left out, or is no longer one of yours`
  const cases: readonly (readonly [string, Partial<Shown>, SealCase['says']])[] = [
    ['a first check', {}, right],
    [
      'a first check after single seals were pruned',
      { objects: without(sealNumber(2), sealNumber(3)) },
      right,
    ],
    ['a check that goes on from another day', { state: knows(1, 1), objects: without(sealNumber(2)) }, right],
    ['a check of the same seals', { state: knows(4, 2) }, right],
    ['a receipt of a signal before the known head', { state: knows(3, 0) }, right],
    ['a head from a cache', { state, objects: { ...objects, head: three.head! } }, right],
    ['a receipt of a seal that is published in a moment', { objects: three }, [2, 3]],
    ['a signal that is not sealed yet', { delivered: { ...delivered, 5: itemOf(5) } }, right],
    ['a signal that this client did not get', { delivered: { 3: itemOf(3) } }, right],
    ['an altered signal', { delivered: { 2: itemOf(2, { action: 'short' }) } }, altered(2, 2)],
    ['a signal in other bytes', { delivered: { 3: JSON.stringify(JSON.parse(itemOf(3))) } }, altered(3, 4)],
    ['another salt of a signal', { receipts: receipt(3, ({ s_n: r }) => ({ r })) }, altered(3, 4)],
    ['a longer salt', { receipts: receipt(1, longer), delivered: { 1: itemOf(1).slice(1) } }, altered(1, 1)],
    ['another salt of a seal', { receipts: receipt(1, ({ r: s_n }) => ({ s_n })) }, later(1, 1)],
    ['a longer batch', batched(4, batch => batch + line), later(4, 4)],
    ['a batch without its last line break', batched(3, batch => batch.trimEnd()), strange(3)],
    ['a batch with a line that is no digest', batched(1, batch => batch + line.trimEnd()), strange(1)],
    ['a batch with another first line', batched(2, batch => batch.replace('after ', 'after 0')), strange(2)],
    ['a signal left out', { receipts: receipts.filter(({ seq }) => seq !== 3) }, leftOut(3, 4)],
    ['a signal that seven seals do not have', waits(4), leftOut(5, 11)],
    ['a signal that six seals do not have', waits(5), [4, 11]],
    ['a fork', { objects: fork }, FORKED],
    ['another chain', { state: knows(3, 2), receipts: [], objects: elsewhere }, notSeen(3)],
    ['a missing seal', { objects: without('days/2026-11-20') }, 'seal 3 is missing: withheld or removed'],
    ['a chain gone back', { state, objects: three }, `${sealNumber(4)} of the seals is missing: ${OTHER}`],
    ['a chain that is gone', { state, objects: {} }, `head of the seals is missing: ${OTHER}`],
    ['another origin', { state, objects: anew.objects }, begun],
    ['another key', { state, objects: { ...five.objects, head: `${Buffer.from(resigned)}` } }, notSigned(5)],
    ['no seal', { objects: { ...objects, head: 'a page' } }, `a published seal has another form: ${ALTERED}`],
    ['a fault that was found before', { state: { ...state, fault: later(1, 1) } }, later(1, 1)],
  ]
  const shown = { receipts, delivered, objects, state: { checked_seq: 0 } }
  return cases.map(([name, change, says]) => ({ ...shown, ...change, name, says }))
}
