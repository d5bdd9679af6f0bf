import { beforeEach, expect, test } from 'vitest'
import { CURRENT_KEY, pointerKey, signatureKey } from '#core/contract/pointer.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { appendEntry, deriveHint, type NextEntry, readHead, readLog } from '#storage/pointer-log.ts'
import { createSigner, isSignedBy, newPrivateKeyPem } from '#storage/signature.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'

const HEADERS = { content_type: 'application/json' }
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const next = (day: number): NextEntry => ({
  action: 'publish',
  version: `2026-01-${String(day).padStart(2, '0')}T00:15:00Z`,
  manifest_sha256: String(day).repeat(64).slice(0, 64),
  at: '2026-01-01T00:15:00Z',
  expires: '2026-01-03T00:15:00Z',
  history_restated: false,
})

const append = async (store: ObjectStore, day: number) =>
  appendEntry(store, await readHead(store), next(day), null)

let store: ObjectStore

const appendThree = async () => [await append(store, 1), await append(store, 2), await append(store, 3)]

beforeEach(() => {
  store = createMemoryStore()
})

test('entries are numbered from 1 and each holds the digest of the one before, and an empty log has no head', async () => {
  expect([await readHead(store), await readLog(store)]).toEqual([null, []])
  const logged = await appendThree()
  expect(logged.map(({ entry }) => entry.seq)).toEqual([1, 2, 3])
  const before = [null, logged[0]?.sha256, logged[1]?.sha256]
  expect(logged.map(({ entry }) => entry.prev_entry_sha256)).toEqual(before)
  expect(await readLog(store)).toEqual(logged)
  expect(await readHead(store)).toEqual(logged[2])
})

test('an entry that is dated before the newest one is refused, and nothing is written', async () => {
  const head = await append(store, 1)
  const keys = await store.list('')
  const back = appendEntry(store, head, { ...next(2), at: '2026-01-01T00:14:59Z' }, null)
  await expect(back).rejects.toThrow(
    'the clock of this machine is at 2026-01-01T00:14:59Z, and the newest pointer entry, memory:memory/v1/pointer/0000000001.json, is from 2026-01-01T00:15:00Z: nothing was published',
  )
  expect(await store.list('')).toEqual(keys)
})

test('exactly one of many publishers that saw the same head appends, and the others get its name', async () => {
  const head = await append(store, 1)
  const racers = Array.from({ length: 12 }, (_, i) => appendEntry(store, head, next(i + 2), null))
  const outcomes = await Promise.allSettled(racers)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue
    expect(String(outcome.reason)).toContain('was faster: entry 2 (publish 2026-01-')
  }
  expect(await readLog(store)).toHaveLength(2)
})

test('a hint that is late costs requests and nothing else', async () => {
  const [first] = await appendThree()
  await deriveHint(store, first!.entry)
  expect((await readHead(store))?.entry.seq).toBe(3)
})

test.each([
  ['rubbish', bytes('no json')],
  ['of another form', bytes('{"version":"x"}')],
  ['ahead of the log', bytes(JSON.stringify({ seq: 99, version: next(1).version, manifest_sha256: 'x' }))],
  ['missing', null],
])('a hint that is %s is neither believed nor needed', async (_what, hint) => {
  await appendThree()
  await (hint === null ? store.remove(CURRENT_KEY) : store.replace(CURRENT_KEY, hint, HEADERS))
  expect((await readHead(store))?.entry.seq).toBe(3)
})

test('a log is refused if an entry is gone, says something else than the next one confirms, or has the number of another', async () => {
  const [first, second] = await appendThree()
  const original = (await store.read(pointerKey(2)))!
  await store.remove(pointerKey(2))
  await expect(readLog(store)).rejects.toThrow('broken at entry 2')
  const other = { ...second!.entry, version: next(9).version }
  await store.replace(pointerKey(2), bytes(JSON.stringify(other)), HEADERS)
  await expect(readLog(store)).rejects.toThrow('broken at entry 3')
  await store.replace(pointerKey(2), original, HEADERS)
  await store.replace(pointerKey(3), (await store.read(pointerKey(first!.entry.seq)))!, HEADERS)
  await expect(readHead(store)).rejects.toThrow('is not a pointer entry')
})

const signer = createSigner(newPrivateKeyPem())

test('every entry of a log is signed before it stands, under the digest of its bytes', async () => {
  const { entry, sha256 } = await appendEntry(store, null, next(1), signer)
  const written = (await store.read(pointerKey(entry.seq)))!
  const signature = (await store.read(signatureKey(sha256)))!
  expect(signature).toHaveLength(64)
  expect(isSignedBy(signer.publicKeyPem, written, signature)).toBe(true)
  const altered = written.with(0, written[0]! ^ 1)
  expect(isSignedBy(signer.publicKeyPem, altered, signature)).toBe(false)
  const stranger = createSigner(newPrivateKeyPem())
  expect(isSignedBy(stranger.publicKeyPem, written, signature)).toBe(false)
})

test('a key that is no Ed25519 private key is refused without being quoted', () => {
  expect(() => createSigner('SECRET')).toThrow('not an Ed25519 private key')
  expect(() => createSigner('SECRET')).not.toThrow('SECRET')
})
