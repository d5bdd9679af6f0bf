// A chain of seals as the sealer writes it, and what a client may be shown of it: the same cases for every client.
import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { SEALS_PREFIX } from '#core/contract/seals.ts'
import { readSignal } from '#signals/log/read-log.ts'
import { SEALS } from '#signals/redis/keys.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import { IMMUTABLE_JSON } from '#storage/object-store.ts'
import {
  batchSalt,
  dateOf,
  dayKeyOf,
  digestOfSeal,
  itemSalt,
  keyOfOrigin,
  lastSeqOf,
  NO_DIGEST,
  originOf,
  recordKey,
  SEAL_MS,
  type SealRecord,
  sealOf,
  seqOf,
  signSeal,
  toRecord,
} from '#storage/seals/seal.ts'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import type { Receipt, SealState } from '../../../clients/typescript/src/index.ts'
import { start } from '../http/raw-server.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { signalContent } from './signals.ts'
import { signalsParts } from './signals-app.ts'

export const newSigner = () => createSigner(newPrivateKeyPem())

/** Seal 3 is the last one of its day. */
const BEGIN_MS = Date.parse('2026-11-20T23:20:00Z')

/** `objects` is the public side by the names below `v1/seals/`; each `add` seals items. */
export function createChain(signer = newSigner(), begin = '2026-11-20T23:20:00Z') {
  const objects: Record<string, string> = {}
  const records: SealRecord[] = []
  let origin = originOf(signer.keyId, begin)
  let prev = NO_DIGEST
  objects[keyOfOrigin(origin).slice(SEALS_PREFIX.length)] = signer.publicKeyPem
  return {
    objects,
    records,
    /** The seals after this are of another origin, or signed by another key under the same one. */
    change(to: { readonly origin?: string; readonly signer?: typeof signer }): void {
      origin = to.origin ?? origin
      signer = to.signer ?? signer
    },
    add(...items: string[]): void {
      const n = records.length + 1
      const toMs = BEGIN_MS + n * SEAL_MS
      const [from, to] = [toIsoInstant(toMs - SEAL_MS), toIsoInstant(toMs)]
      const date = dateOf({ toMs })
      const facts = { n, origin, from, to, entry_seq: 0, entry_sha256: NO_DIGEST, events: 0 }
      const before = records.at(-1)
      const after = before === undefined ? 0 : lastSeqOf(before)
      const record = toRecord({ ...facts, day_key: dayKeyOf('a secret', date) }, after, items)
      const bytes = signSeal(sealOf(record, prev), signer)
      prev = digestOfSeal(bytes)
      records.push(record)
      const text = Buffer.from(bytes).toString()
      Object.assign(objects, { head: text, [nameOf(n)]: text })
      objects[`days/${date}`] = (objects[`days/${date}`] ?? '') + text
    },
    /** What the service answers: of every signal, or of some. */
    receipts: (isShown: (seq: number) => boolean = () => true): Receipt[] =>
      records.flatMap(({ n, day_key, batch, items }) =>
        items.flatMap((item, i) => {
          const seq = seqOf(item)
          if (seq === null || !isShown(seq)) return []
          return [{ seq, n, r: itemSalt(day_key, item, n, i), s_n: batchSalt(day_key, n), batch }]
        }),
      ),
  }
}

/** A public side that is served, a private one, and the signals of a log in both; `changes` are the parts of a service beside it. */
export async function startSealed(redis: Redis) {
  const [chain, privateStore] = [createChain(), createMemoryStore()]
  const { url } = await start(request => {
    const found = chain.objects[new URL(request.url).pathname.slice(SEALS_PREFIX.length + 1)]
    return new Response(found ?? null, { status: found === undefined ? 404 : 200 })
  })
  const settings = { ...signalsParts(redis).parts.settings, historyBaseUrl: url }
  return {
    ...{ chain, url, privateStore, changes: { privateStore, settings } },
    /** Signals of the log by their numbers, or other items. */
    async seal(...items: (number | string)[]): Promise<void> {
      const bodyOf = async (item: number | string) =>
        typeof item === 'string' ? item : (await readSignal(redis, item))!.body
      chain.add(...(await Promise.all(items.map(bodyOf))))
      const record = chain.records.at(-1)!
      await privateStore.replace(recordKey(record.n), toJsonBytes(record), IMMUTABLE_JSON)
      if (items.length > 0) await redis.zadd(SEALS, lastSeqOf(record), record.n)
    },
  }
}

export const nameOf = (n: number): string => String(n).padStart(9, '0')

/** A signal as it is delivered; its bytes are not those that JSON.stringify makes of it. */
export const itemOf = (seq: number, more = {}): string =>
  `{"schema_version": "1.0", "seq": ${seq}, ${JSON.stringify({ ...signalContent(`s${seq}`), ...more }).slice(1)}`

export type SealCase = {
  readonly name: string
  readonly receipts: readonly Receipt[]
  readonly delivered: Readonly<Record<string, string>>
  readonly objects: Readonly<Record<string, string>>
  readonly state: SealState
  /** What the client says, or up to which signal all is right, and the newest seal. */
  readonly says: string | { readonly checked: number; readonly n: number }
}

const EVENT = JSON.stringify({
  ...{
    event: 'halt',
    alias: '*',
    by: 'operator:ann',
    why: 'a }"{ strange market',
    at: '2026-11-20T23:21:00Z',
  },
})

const OTHER = 'another chain is shown to you than before'

/** Four seals: two days, signals 1 to 4 and an event; then what a publisher may change of them, or a client have seen before. */
export function sealCases(): readonly SealCase[] {
  const signer = newSigner()
  const made = (change: (chain: ReturnType<typeof createChain>) => void = () => {}, upTo = 4) => {
    const chain = createChain(signer)
    for (const items of [[EVENT, itemOf(1)], [itemOf(2)], [], [itemOf(3), itemOf(4)]].slice(0, upTo))
      chain.add(...items)
    change(chain)
    return chain
  }
  const chain = made()
  const whole: Omit<SealCase, 'name' | 'says'> = {
    receipts: chain.receipts(),
    delivered: Object.fromEntries([1, 2, 3, 4].map(seq => [seq, itemOf(seq)])),
    objects: chain.objects,
    state: { checked_seq: 0 },
  }
  /** What a client knows that has checked so many seals. */
  const knows = (n: number, checked_seq: number): SealState => {
    const { origin, to } = chain.records[n - 1]!
    const digest = digestOfSeal(Buffer.from(chain.objects[nameOf(n)]!))
    return { checked_seq, head: { n, digest, origin, date: to.slice(0, 10), key: signer.publicKeyPem } }
  }
  const receiptOf = (seq: number, change: (receipt: Receipt) => Partial<Receipt>) =>
    whole.receipts.map(each => (each.seq === seq ? { ...each, ...change(each) } : each))
  const without = (objects: SealCase['objects'], ...names: string[]) =>
    Object.fromEntries(Object.entries(objects).filter(([name]) => !names.includes(name)))
  const { head: _none, ...headless } = without(chain.objects, nameOf(4))
  const forked = made(other => {
    other.add()
    other.objects[nameOf(4)] = made(each => each.add(itemOf(3, { action: 'short' })), 3).objects[nameOf(4)]!
  })
  const altered = (seq: number, n: number) =>
    `signal ${seq} as it was delivered is not in the batch of seal ${n}: it was altered`
  const later = (seq: number, n: number) =>
    `the batch of signal ${seq} is not what seal ${n} commits to: it was altered later`
  const leftOut = (seq: number, n: number) =>
    `signal ${seq} was delivered to you, and no seal up to ${n} has it: it was left out, or is no longer one of yours`
  const right = { checked: 4, n: 4 }
  const seven = made(other => {
    for (let i = 0; i < 7; i++) other.add()
  })
  const changed = (to: Parameters<typeof chain.change>[0]) =>
    made(other => {
      other.change(to)
      other.add()
    })
  const cases: [string, Partial<SealCase>, SealCase['says']][] = [
    ['a first check', {}, right],
    [
      'a first check of seals of which the single ones are gone',
      { objects: without(chain.objects, nameOf(2), nameOf(3)) },
      right,
    ],
    [
      'a check that goes on from another day',
      { state: knows(1, 1), objects: without(chain.objects, nameOf(2)) },
      right,
    ],
    ['a check of the same seals', { state: knows(4, 2) }, right],
    ['a receipt of a signal before the head that is known', { state: knows(3, 0) }, right],
    [
      'a head from a cache',
      { state: knows(4, 4), objects: { ...chain.objects, head: chain.objects[nameOf(3)]! } },
      right,
    ],
    [
      'a receipt of a seal that is published in a moment',
      { objects: made(() => {}, 3).objects },
      { checked: 2, n: 3 },
    ],
    ['a signal that is not sealed yet', { delivered: { ...whole.delivered, 5: itemOf(5) } }, right],
    ['a signal that this client did not get', { delivered: { 3: itemOf(3) } }, right],
    [
      'a signal that was altered',
      { delivered: { ...whole.delivered, 2: itemOf(2, { action: 'short' }) } },
      altered(2, 2),
    ],
    [
      'a signal that was serialised again',
      { delivered: { 3: JSON.stringify(JSON.parse(itemOf(3))) } },
      altered(3, 4),
    ],
    ['another salt of a signal', { receipts: receiptOf(3, ({ s_n }) => ({ r: s_n })) }, altered(3, 4)],
    [
      'a salt that is longer',
      {
        receipts: receiptOf(1, ({ r }) => ({
          r: Buffer.concat([Buffer.from(r, 'base64'), Buffer.from('{')]).toString('base64'),
        })),
        delivered: { 1: itemOf(1).slice(1) },
      },
      altered(1, 1),
    ],
    ['another salt of a seal', { receipts: receiptOf(1, ({ r }) => ({ s_n: r })) }, later(1, 1)],
    [
      'a batch with a line more',
      { receipts: receiptOf(4, ({ batch }) => ({ batch: `${batch}${'0'.repeat(64)}\n` })) },
      later(4, 4),
    ],
    [
      'a signal that was left out before another',
      { receipts: chain.receipts(seq => seq !== 3) },
      leftOut(3, 4),
    ],
    [
      'a signal that six seals after its first check do not have',
      {
        objects: seven.objects,
        delivered: { 5: itemOf(5) },
        state: { ...knows(4, 4), waiting: { seq: 5, n: 4 } },
      },
      leftOut(5, 11),
    ],
    [
      'a signal that six further seals may still have',
      {
        objects: seven.objects,
        delivered: { 5: itemOf(5) },
        state: { ...knows(4, 4), waiting: { seq: 5, n: 5 } },
      },
      { checked: 4, n: 11 },
    ],
    [
      'a seal that was replaced after it was seen',
      { state: knows(4, 4), objects: forked.objects },
      'seal 5 does not continue seal 4: one of the two was altered, or the chain was forked',
    ],
    [
      'another chain of the same key',
      { state: knows(3, 2), receipts: [], objects: made(other => other.add(itemOf(3)), 2).objects },
      `seal 3 is not the one that you saw: ${OTHER}`,
    ],
    [
      'a seal that is missing',
      { objects: without(chain.objects, nameOf(2), 'days/2026-11-20') },
      'seal 2 is missing: withheld or removed',
    ],
    [
      'a chain that has gone back',
      { state: knows(4, 4), objects: { ...headless, head: chain.objects[nameOf(3)]! } },
      `${nameOf(4)} of the seals is missing: ${OTHER}`,
    ],
    ['a chain that is gone', { state: knows(4, 4), objects: {} }, `head of the seals is missing: ${OTHER}`],
    [
      'another origin',
      {
        state: knows(4, 4),
        objects: changed({ origin: originOf(signer.keyId, '2026-11-21T00:00:00Z') }).objects,
      },
      `seal 5 is of highwater/${signer.keyId}/20261121T000000Z, not of highwater/${signer.keyId}/20261120T232000Z: another chain began; ask why`,
    ],
    [
      'a key that was changed',
      {
        state: knows(4, 4),
        objects: changed({ signer: newSigner() }).objects,
      },
      `seal 5 is not signed by the key that you know: ${OTHER}`,
    ],
    [
      'a seal that is none',
      { objects: { ...chain.objects, head: 'a page' } },
      'a published seal has another form: it was altered',
    ],
    ['a fault that was found before', { state: { ...knows(4, 4), fault: later(1, 1) } }, later(1, 1)],
  ]
  return cases.map(([name, change, says]) => ({ name, ...whole, ...change, says }))
}
