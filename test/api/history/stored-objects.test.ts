// The objects that prove the answers: sent as they are stored, and checked against the pointer log before caches may keep them.
import { beforeAll, expect, test } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import { FILE_ROUTES, type FileRoute, type FileVariable, KEYS_KEY } from '#core/contract/file-routes.ts'
import { pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { variablesOf } from '#core/contract/route.ts'
import { sha256 } from '#storage/digest.ts'
import { appendEntry, readLog } from '#storage/pointer-log.ts'
import { BEFORE } from '../../static-build/hand-order.ts'
import { newSigner, publishTwo } from '../../static-build/signed-store.ts'
import type { MemoryStores } from '../../support/books/publish-in-memory.ts'
import { JSON_HEADERS, openBothVersions, pointTo, SECOND_VERSION } from '../../support/books/small-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { damage, meddled, outage } from '../../support/stores/store-doubles.ts'
import { bytesOf } from '../../support/stores/stored-bytes.ts'
import { errorOf } from './answers.ts'

const FIRST_ENTRY = '0000000001'
const IMMUTABLE = 'max-age=31536000, immutable'

let signed: MemoryStores
let entryDigest: string

beforeAll(async () => {
  const signer = newSigner()
  signed = await publishTwo(signer, signer)
  entryDigest = sha256(await bytesOf(signed.store, pointerKey(1)))
})

/** The key and the address of the object of a route, of the first of two signed versions. */
function placeOf(file: FileRoute): { readonly key: string; readonly path: string } {
  const inStore = { version: BEFORE, seq: FIRST_ENTRY, sha256: entryDigest }
  const inPath = { ...inStore, version: toCompactInstant(BEFORE) }
  const [name] = variablesOf(file.path) as FileVariable[] // the table names no other
  if (name === undefined) return { key: file.handler(''), path: file.path }
  return { key: file.handler(inStore[name]), path: file.path.replace(/\{\w+\}/, inPath[name]) }
}

const ROUTES = FILE_ROUTES.map(file => [file.path, file] as const)

test.each(ROUTES)('%s is handed out as it is stored, for ever if it is proven', async (_path, file) => {
  const { app } = await createTestApp(signed.store, signed.privateStore)
  const { key, path } = placeOf(file)
  const bytes = await bytesOf(signed.store, key)
  for (let i = 0; i < 2; i++) {
    const response = await app.request(path, { headers: { 'accept-encoding': 'br' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(file.mediaType)
    expect(response.headers.get('etag')).toBe(`"${sha256(bytes).slice(0, 32)}"`)
    expect(response.headers.has('content-encoding')).toBe(false)
    expect(response.headers.get('cache-control') === IMMUTABLE).toBe(file.proof !== null)
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  }
})

test.each(ROUTES.filter(([, { proof }]) => proof !== null))(
  '%s with one flipped bit is 503 with an alert until it is restored',
  async (_path, file) => {
    const { key, path } = placeOf(file)
    let isDamaged = false
    const store = meddled(
      signed.store,
      asked => asked === key && isDamaged,
      bytes => damage(bytes!),
    )
    const { app, errors } = await createTestApp(store, signed.privateStore)
    isDamaged = true
    const response = await app.request(path)
    expect(response.status).toBe(503)
    expect((await errorOf(response)).code).toBe('unavailable')
    expect(errors.map(String).join()).toContain(`${key} is not what was published: restore it from a copy`)
    isDamaged = false
    expect((await app.request(path)).status).toBe(200)
  },
)

test('an entry that was appended a moment ago, and that the service does not know yet, is kept for seconds only', async () => {
  const signer = newSigner()
  const { store, privateStore } = await publishTwo(signer, signer)
  const { app } = await createTestApp(store, privateStore)
  const head = (await readLog(store)).at(-1)!
  const { seq: _seq, prev_entry_sha256: _before, ...next } = head.entry
  await appendEntry(store, head, { ...next, action: 'refresh' }, signer)
  const response = await app.request('/v1/pointer/0000000003.json')
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('max-age=10, stale-if-error=3600')
})

test('the file of keys, which may change, is read each time', async () => {
  const { app, store } = await openSecond()
  for (const text of ['{"keys":[1]}', '{"keys":[2]}']) {
    await store.replace(KEYS_KEY, new TextEncoder().encode(text), JSON_HEADERS)
    expect(await (await app.request('/.well-known/highwater-keys.json')).text()).toBe(text)
  }
})

test.each(['1.json', '00000000001.json', 'x.json', '..%2fcurrent.json', '%00.json', 'signatures/x.sig'])(
  'the pointer log answers 404 for %s, the name of no entry',
  async name => {
    const { app } = await openSecond()
    expect((await errorOf(await app.request(`/v1/pointer/${name}`))).code).toBe('not_found')
  },
)

test.each(['1.json', '0000000099.json'])(
  'the pointer log answers 404 for the unknown entry %s, naming the newest',
  async name => {
    const { app } = await openSecond()
    const { code, message } = await errorOf(await app.request(`/v1/pointer/${name}`))
    expect(code).toBe('not_found')
    expect(message).toMatch(/; the newest known entry is 4$/)
  },
)

test('a version that was never published is 404, also if the store has its manifest', async () => {
  const { app, store } = await openSecond()
  const version = '2024-03-09T00:15:00Z'
  await store.create(manifestKey(version), new TextEncoder().encode('{}'), JSON_HEADERS)
  expect((await app.request('/v1/snapshots/20240309T001500Z/manifest.json')).status).toBe(404)
})

test('a stored object is 503 with an alert while the store cannot be read', async () => {
  const stores = await openBothVersions()
  const key = signatureKey('f'.repeat(64))
  const down = meddled(stores.store, asked => asked === key, outage(stores.store))
  const { app, errors } = await createTestApp(down, stores.privateStore)
  const response = await app.request(`/${key}`)
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('5')
  expect((await errorOf(response)).code).toBe('unavailable')
  expect(errors).toHaveLength(1)
})

async function openSecond() {
  const stores = await openBothVersions()
  await pointTo(stores, SECOND_VERSION)
  return { ...stores, ...(await createTestApp(stores.store, stores.privateStore)) }
}
