// Openings of sealed days, and the live records that follow from them.
import { describe, expect, test } from 'vitest'
import { toIsoInstant } from '#core/calendar.ts'
import { openingKey, SEAL_HEAD_KEY, sealKey } from '#core/contract/seals.ts'
import { openDays, withLiveRecords } from '#static-build/open-days.ts'
import { chainFaults, openSeals, type PublicSeal, readSeals } from '#storage/seals/chain.ts'
import {
  batchOf,
  commitmentToItem,
  digestOfSeal,
  itemSalt,
  NO_DIGEST,
  type Opening,
  openingText,
  originOf,
  parseOpening,
  parseSeal,
  recordKey,
  SEAL_MS,
  sealOf,
  signSeal,
} from '#storage/seals/seal.ts'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'
import { createMemoryStores, toBytes } from '#test/support/books/publish-in-memory.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { type Chain, createChain, eventItem, hourOf, signalItem } from '#test/support/seals/chain.ts'

const DAYS = ['2024-05-29', '2024-05-30', '2024-05-31'] as const
const BEGIN = '2024-05-29T06:00:00Z'
const END = '2024-06-01T01:00:00Z'
const TEXT = { content_type: 'text/plain' }

/** Three days, an hour a seal: two strategies go live, one fires and is halted, one of them leaves. */
async function threeDays(chain = createChain(createMemoryStores(), BEGIN)): Promise<Chain> {
  const entry = hourOf(DAYS[0], 12)
  await chain.sealUntil(
    END,
    {
      [hourOf(DAYS[0], 8)]: [
        eventItem('live', 'oak', hourOf(DAYS[0], 8)),
        eventItem('live', 'elm', hourOf(DAYS[0], 8)),
      ],
      [entry]: [signalItem(1, { alias: 'oak', timestamp: entry })],
      [hourOf(DAYS[1], 3)]: [
        signalItem(2, { alias: 'oak', action: 'flat', timestamp: hourOf(DAYS[1], 3), by: 'operator:ada' }),
        signalItem(3, { alias: 'oak', is_test: true, timestamp: hourOf(DAYS[1], 3) }),
        signalItem(4, { alias: 'ash', mode: 'DRY_RUN', timestamp: hourOf(DAYS[1], 3) }),
        eventItem('halt', '*', hourOf(DAYS[1], 3), { why: 'a test' }),
      ],
      [hourOf(DAYS[2], 3)]: [eventItem('ended', 'elm', hourOf(DAYS[2], 3))],
    },
    3_600_000,
  )
  return chain
}

const openedOf = async (chain: Chain, until: string) =>
  openSeals(key => chain.store.read(key), await chain.read(), until)

const keysOf = async ({ store }: Chain) => store.list('v1/seals/openings/')

test('a build opens each day up to the end of its window once, and every seal of it fits what was opened', async () => {
  const chain = await threeDays()
  await openDays(chain, DAYS[1])
  expect(await keysOf(chain)).toEqual([openingKey(DAYS[0]), openingKey(DAYS[1])])
  const before = await chain.store.read(openingKey(DAYS[0]))
  await openDays(chain, DAYS[2])
  expect(await chain.store.read(openingKey(DAYS[0]))).toEqual(before)
  const { items, faults, lost, skipped, openedTo } = await openedOf(chain, '2024-12-31')
  expect([items.length, faults, lost, skipped, openedTo]).toEqual([8, [], [], [], DAYS[2]])
  expect((await openedOf(chain, DAYS[0])).items).toHaveLength(3)
  const lines = parseOpening(before!)!.lines.map(({ n }) => n)
  expect(lines).toEqual([1, 3, 7]) // the first of the day, the events and the signal: no other says anything
})

test('nothing is read but the first seal if there is none, and the snapshot stays the same', async () => {
  const stores = createMemoryStores()
  const read: string[] = []
  const store = { ...stores.store, has: async (key: string) => read.push(key) < 0 }
  await openDays({ ...stores, store }, DAYS[2])
  const snapshot = handSnapshot([{ id: 'oak', first: DAYS[0], returns: [0.01] }])
  expect(await withLiveRecords(store, snapshot, () => null)).toBe(snapshot)
  expect(read).toEqual([sealKey(1), sealKey(1)])
})

test('the live records of a snapshot have what was opened up to its window: signals but tests, events of the strategy and of all', async () => {
  const chain = await threeDays()
  const returns = [0.01, 0.02, 0.03]
  const snapshot = handSnapshot(['oak', 'elm', 'ash'].map(id => ({ id, first: DAYS[0], returns })))
  await openDays(chain, DAYS[2])
  const { dataset, strategies } = await withLiveRecords(chain.store, snapshot, id =>
    id === 'oak' ? 240 : null,
  )
  expect(dataset.seals).toEqual({
    ...{ since: BEGIN, opened_to: DAYS[2], seals: 65, lost: [], skipped: [], stamped_by: null, absent: [] },
    newest: { n: 65, digest: chain.all[64]!.digest },
    gaps: expect.objectContaining({ length: 65 }),
    origins: [{ origin: `highwater/${chain.signer.keyId}/20240529T060000Z`, n: 1 }],
  })
  const [oak, elm, ash] = strategies.map(({ live }) => live)
  expect(oak!.signals).toMatchObject([
    {
      n: 7,
      seq: 1,
      action: 'long',
      by: 'strategy',
      timestamp: Date.parse(hourOf(DAYS[0], 12)),
      sealed: Date.parse(hourOf(DAYS[0], 13)),
    },
    { seq: 2, action: 'flat', by: 'operator:ada' },
  ])
  expect([oak!.bar_minutes, elm!.bar_minutes, ash]).toEqual([240, null, null])
  expect(elm!.events.map(({ event, alias }) => `${event} ${alias}`)).toEqual([
    'live elm',
    'halt *',
    'ended elm',
  ])
})

describe('a build that would have to leave an opening out fails', () => {
  const ofAnother = (n: number) =>
    new RegExp(`^seal ${n} cannot be opened, because .*00000000${n}\\.json is missing or of another seal`)
  const replaceRecord =
    (n: number, change: object, of = n) =>
    ({ privateStore, all }: Chain) =>
      privateStore.replace(recordKey(n), toBytes({ ...all[of - 1]!.record, n, ...change }), TEXT)
  test.each(casesOf<[string, (chain: Chain) => Promise<unknown>, RegExp]>`
without the record of a seal -> ${({ privateStore }: Chain) => privateStore.remove(recordKey(9))} -> ${/^seal 9 cannot be opened, because memory:private\/seals\/000000009\.json is missing or of another seal: restore it from a copy; without one, `highwater seals begin-anew --reason TEXT` declares it lost in public$/}
with a record of another seal -> ${replaceRecord(9, {}, 10)} -> ${ofAnother(9)}
with a record whose items are not those of its batch -> ${replaceRecord(7, { items: [signalItem(9)] })} -> ${ofAnother(7)}
with a record whose seal is not public yet -> ${({ privateStore, all }: Chain) => privateStore.create(recordKey(68), toBytes({ ...all[66]!.record, n: 68, to: `${DAYS[2]}T23:50:00Z` }), TEXT)} -> ${/^seal 68 has a record and is not published, so 2024-05-31 cannot be opened: start `highwater serve signals`, which publishes it, and build again$/}
without a seal -> ${({ store }: Chain) => Promise.all([sealKey(9), `v1/seals/days/${DAYS[0]}`].map(store.remove))} -> ${/^memory:public: seal 9 is missing: withheld or removed; restore the seals from a copy$/}`)(
    'an opening %s is not written, and the build says which',
    async (_, damage, says) => {
      const chain = await threeDays()
      await damage(chain)
      await expect(openDays(chain, DAYS[2])).rejects.toThrow(says)
    },
  )

  test('a build that reads an opening which was altered fails, and says of which seal', async () => {
    const chain = await threeDays()
    await openDays(chain, DAYS[2])
    const bytes = Buffer.from((await chain.store.read(openingKey(DAYS[0])))!).toString()
    await chain.store.replace(openingKey(DAYS[0]), Buffer.from(bytes.replace('50000', '50001')), TEXT)
    const snapshot = handSnapshot([{ id: 'oak', first: DAYS[0], returns: [0, 0, 0] }])
    await expect(withLiveRecords(chain.store, snapshot, () => null)).rejects.toThrow(
      /^memory:public: the items of seal 7 and those that are opened of it are not the same \(one of 1\): restore seals and openings from a copy$/,
    )
  })
})

describe('an opening in which something could be hidden or chosen is a fault', () => {
  const hex = 'a'.repeat(64)
  const key = createSigner(newPrivateKeyPem())
  const fromMs = Date.parse(BEGIN)
  /** What is wrong with the opening of a chain, each with its batch and items, the third of a new origin. */
  const openedAs = async (
    sealed: readonly { batch: string; items?: string[] }[],
    change: (opening: Opening) => Opening = opening => opening,
  ) => {
    const seals: PublicSeal[] = []
    for (const [i, { batch, items = [] }] of sealed.entries()) {
      const facts = { n: i + 1, origin: originOf(key.keyId, i < 2 ? BEGIN : END), day_key: '', events: 0 }
      const [from, to] = [fromMs + i * SEAL_MS, fromMs + (i + 1) * SEAL_MS].map(toIsoInstant) as [
        string,
        string,
      ]
      const record = { ...facts, from, to, entry_seq: 0, entry_sha256: NO_DIGEST, batch, items }
      const seal = sealOf(record, seals.at(-1)?.digest ?? NO_DIGEST)
      const bytes = signSeal(seal, key)
      seals.push({ seal, bytes, digest: digestOfSeal(bytes) })
    }
    const lines = sealed.map(({ batch, items = [] }, i) => ({ n: i + 1, batch, items }))
    const text = openingText(change({ date: DAYS[0], day_key: '', stamps: [], lines }))
    const { faults, skipped } = await openSeals(async () => Buffer.from(text), seals, DAYS[0])
    return [...faults, ...skipped.map(({ from, to }) => `${from} to ${to} are skipped`)]
  }
  const itemOf = (n: number, item: string) => ({
    batch: batchOf(0, [commitmentToItem(itemSalt('', item, n, 0), item)]),
    items: [item],
  })
  const empty = { batch: 'after 0\n' }
  const numbered = JSON.stringify({ ...JSON.parse(eventItem('key', null, BEGIN)), seq: 1 })
  const anew = eventItem('begin_anew', null, END, { of: { lost_from: 1, lost_to: 1 } })
  const begun = [empty, empty, itemOf(3, anew)]
  const lost = { n: 1, lost: 'a broken disk' }
  const other = 'the opening of 2024-05-29 has lines twice, in another order, or of other seals'
  const withLines = (change: (lines: Opening['lines']) => Opening['lines']) => (opening: Opening) => ({
    ...opening,
    lines: change(opening.lines),
  })
  test.each(casesOf<[string, string[], ...Parameters<typeof openedAs>]>`
with a batch without its last line break -> ${['the batch of seal 1 has another form']} -> ${[{ batch: `after 0\n${hex}` }]}
with a batch of other lines -> ${['the batch of seal 1 has another form']} -> ${[{ batch: `after 0\n${hex} \n` }]}
with a line twice -> ${[other]} -> ${[empty]} -> ${withLines(lines => [...lines, ...lines])}
with a line of no seal of its day -> ${[other]} -> ${[empty]} -> ${withLines(lines => [...lines, { ...lost, n: 9 }])}
with a stamp of no seal of its day -> ${[other]} -> ${[empty]} -> ${(o: Opening) => ({ ...o, stamps: [{ n: 9, at: END, by: 'x' }] })}
of a new chain that jumps over numbers -> ${['1 to 9 are skipped']} -> ${[empty, empty, { batch: 'after 9\n' }]}
with an event that has a number -> ${['1 to 1 are skipped']} -> ${[itemOf(1, numbered), itemOf(2, signalItem(2))]}
of a seal that is said to be lost, which no later beginning says -> ${['seal 2 is said to be lost, and no chain that begins after it says so']} -> ${begun} -> ${withLines(([, , third]) => [lost, { n: 2, lost: 'another' }, third!])}
of a seal that a later beginning says is lost -> ${['seal 1 is opened, and a later beginning says that it is lost']} -> ${begun}
of a seal that is lost as a later beginning says is none -> ${[]} -> ${begun} -> ${withLines(([, ...others]) => [lost, ...others])}`)(
    'an opening %s is read with exactly those faults and holes that it has',
    async (_, says, ...given) => {
      expect(await openedAs(...given)).toEqual(says)
    },
  )

  test('seals of a head with a number, or an end, that cannot be are not read, nor is a seal in another base64', async () => {
    const chain = createChain(createMemoryStores(), BEGIN)
    const { seal } = await chain.seal()
    await chain.store.replace(SEAL_HEAD_KEY, signSeal({ ...seal, n: 400_000 }, chain.signer), TEXT)
    await expect(chain.read()).rejects.toThrow('seal 400000 cannot end at 2024-05-29T06:10:00Z')
    await chain.store.replace(SEAL_HEAD_KEY, signSeal(seal, chain.signer), TEXT)
    await expect(readSeals(chain.store.read, fromMs)).rejects.toThrow('seal 1 cannot end at')
    const text = Buffer.from(signSeal(seal, chain.signer)).toString()
    expect([text, text.replace('A=\n', 'B=\n')].map(each => parseSeal(Buffer.from(each))?.n)).toEqual([
      1,
      undefined,
    ])
  })
})

test('seals whose records are lost are opened as lost with the reason of the new beginning, which has a key of its own', async () => {
  const chain = createChain(createMemoryStores(), BEGIN)
  await chain.sealUntil(
    hourOf(DAYS[0], 20),
    { [hourOf(DAYS[0], 7)]: [signalItem(1), signalItem(2)] },
    3_600_000,
  )
  await chain.privateStore.remove(recordKey(13))
  await chain.privateStore.replace(recordKey(14), toBytes({ ...chain.all[13]!.record, items: ['{}'] }), TEXT)
  const last = chain.all.at(-1)!
  const other = createSigner(newPrivateKeyPem())
  chain.beginAnew(other)
  const of = { origin: last.seal.origin, n: 14, digest: last.digest, lost_from: 13, lost_to: 14 }
  const at = hourOf(DAYS[0], 20)
  await chain.seal([
    eventItem('begin_anew', null, at, { why: 'the disk broke', of }),
    eventItem('key', null, at, { of: { key: other.keyId } }),
    signalItem(5),
  ])
  await chain.sealUntil(END, {}, 3_600_000)
  await openDays(chain, DAYS[2])
  const { faults, lost, items, skipped } = await openedOf(chain, DAYS[2])
  expect([faults, skipped]).toEqual([[], [{ from: 3, to: 4 }]])
  expect(lost).toEqual([13, 14].map(n => ({ n, why: 'the disk broke' })))
  expect(items.map(({ n }) => n)).toEqual([2, 2, 15, 15, 15])
  const keys = new Map([chain.signer, other].map(each => [each.keyId, each.publicKeyPem]))
  expect(chainFaults(await chain.read(), origin => keys.get(origin.split('/')[1]!) ?? null)).toEqual([])
})
