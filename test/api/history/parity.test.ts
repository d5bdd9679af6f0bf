// The idea that carries the service: a published file and a computed answer are the same bytes, because one function
// makes both. So a lost file costs time and nothing else.
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, inject, test } from 'vitest'
import { TWIN_CODINGS, TWIN_ENDINGS, type TwinCoding } from '#core/contract/artifacts.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { renderAnswer } from '#core/dataset/resources/render-answer.ts'
import { canonicalPath, canonicalPoints } from '#core/dataset/resources/routes.ts'
import { decodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { ASSETS } from '#pages/assets.ts'
import { fileUrl, pageFile, pictureFile, publishedPages } from '#pages/page-routes.ts'
import { sha256 } from '#storage/digest.ts'
import { openStore } from '#storage/open-store.ts'
import { fileEtag } from '#storage/placing.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { damage, isArtifact, meddled, outage } from '../../support/stores/store-doubles.ts'
import { bytesOf, manifestOf, snapshotBytesOf } from '../../support/stores/stored-bytes.ts'
import { DATA_ROUTES, SIDS } from './paths.ts'

const { url: storeUrl, privateUrl } = inject('tinyStore')
const store = await openStore(storeUrl)
const privateStore = await openStore(privateUrl)
const published = await manifestOf(store, TINY_VERSION)

const points = DATA_ROUTES.flatMap(route => {
  const { id } = route
  return canonicalPoints(route, SIDS).map(params => ({ id, params, url: canonicalPath(id, params) }))
})

const artifactAt = (url: string): Artifact => published.artifacts.find(artifact => artifact.url === url)!

const DECOMPRESS = { br: brotliDecompressSync, gzip: gunzipSync } as const

/** Text has both twins and a binary format none. */
function twinsOf({ media_type, encodings }: Artifact): TwinCoding[] {
  const isText = media_type.includes('charset=')
  const twins = TWIN_CODINGS.filter(coding => encodings[coding] !== undefined)
  expect(twins, media_type).toEqual(isText ? ['br', 'gzip'] : [])
  return twins
}

test('a published version has a file for every canonical point of the route table, for every page and for its picture, and no other', () => {
  const files = [
    ...publishedPages(published.strategies).map(({ route, sid }) => pageFile(route, sid)),
    ...['', ...published.strategies].map(pictureFile),
    ...ASSETS.map(({ file }) => file),
  ].map(fileUrl)
  expect(published.artifacts.map(({ url }) => url).sort()).toEqual(
    [...points.map(({ url }) => url), ...files].sort(),
  )
  expect(points.length).toBeGreaterThan(40)
})

test('a published file has the bytes and headers of the computed answer, in every coding that it has', async () => {
  const snapshot = decodeSnapshot(await snapshotBytesOf(privateStore, TINY_VERSION))
  for (const { id, params, url } of points) {
    const { bytes, headers } = renderAnswer(id, snapshot, params)
    const artifact = artifactAt(url)
    const computed = Buffer.from(bytes)
    expect(computed.equals(await bytesOf(store, artifact.key)), url).toBe(true)
    for (const coding of twinsOf(artifact)) {
      const twin = await bytesOf(store, artifact.key + TWIN_ENDINGS[coding])
      expect(DECOMPRESS[coding](twin).equals(computed), `${url} ${coding}`).toBe(true)
    }
    expect({ 'content-type': artifact.media_type, ...artifact.headers }, url).toEqual(headers)
  }
})

test('the manifest has the length and digest of every file, and the rows and dates of every table', async () => {
  for (const { url, key, encodings, ...plain } of published.artifacts) {
    const files = [
      { name: key, ...plain },
      ...TWIN_CODINGS.flatMap(coding => {
        const twin = encodings[coding]
        return twin === undefined ? [] : [{ name: key + TWIN_ENDINGS[coding], ...twin }]
      }),
    ]
    for (const { name, ...listed } of files) {
      const bytes = await bytesOf(store, name)
      expect([bytes.length, sha256(bytes)], name).toEqual([listed.bytes, listed.sha256])
    }
    if (!url.endsWith('format=csv')) continue
    const lines = new TextDecoder()
      .decode(await bytesOf(store, key))
      .split('\r\n')
      .slice(1, -1)
    expect(lines.length, url).toBe(plain.rows)
    if (plain.first !== null)
      expect([lines[0]!.slice(0, 10), lines.at(-1)!.slice(0, 10)]).toEqual([plain.first, plain.last])
  }
})

/** An answer but for its validator: what a file and a computed answer must share. */
async function essence(response: Response) {
  const headers = Object.fromEntries(response.headers)
  delete headers.etag
  return { status: response.status, headers, body: await response.text() }
}

test.each([
  ['is missing', () => null],
  ['is damaged', (bytes: Uint8Array | null) => bytes && damage(bytes)],
  ['is cut short', (bytes: Uint8Array | null) => bytes?.subarray(0, -1) ?? null],
  ['cannot be read', (_bytes: Uint8Array | null, key: string) => outage(store)(null, key)],
] as const)('the same answers are computed and damage reported if every file %s', async (state, meddle) => {
  const sound = await createTestApp(store, privateStore)
  const broken = await createTestApp(meddled(store, isArtifact, meddle), privateStore)
  for (const { url } of points) {
    const whole = await sound.app.request(url)
    const computed = await broken.app.request(url)
    expect(computed.headers.get('etag'), url).not.toBe(whole.headers.get('etag'))
    expect(await essence(computed), url).toEqual(await essence(whole))
    expect(broken.damages.at(-1), state).toContain(artifactAt(url).key)
  }
  expect(broken.damages).toHaveLength(points.length)
  expect(broken.damages[0]).toContain('its answer is computed instead')
  expect(sound.damages).toEqual([])
  expect(broken.errors).toEqual([])
})

const path = '/v1/strategies/ash/curve'

test('a damaged file costs only its own coding', async () => {
  const { app, damages } = await createTestApp(
    meddled(
      store,
      key => key.endsWith('.br'),
      bytes => bytes && damage(bytes),
    ),
    privateStore,
  )
  const plain = await app.request(path)
  const gzip = await app.request(path, { headers: { 'accept-encoding': 'gzip' } })
  expect(damages).toEqual([])
  const br = await app.request(path, { headers: { 'accept-encoding': 'br' } })
  expect(damages).toHaveLength(1)
  const text = await plain.text()
  expect(gunzipSync(await gzip.arrayBuffer()).toString()).toBe(text)
  expect(brotliDecompressSync(await br.arrayBuffer()).toString()).toBe(text)
})

test('a damaged file is served again as soon as it is whole', async () => {
  let isBroken = true
  const flaky = meddled(store, isArtifact, bytes => (isBroken && bytes ? damage(bytes) : bytes))
  const { app } = await createTestApp(flaky, privateStore)
  const { key, bytes } = artifactAt(path)
  const etag = fileEtag(key, bytes)
  expect((await app.request(path)).headers.get('etag')).not.toBe(etag)
  isBroken = false
  expect((await app.request(path)).headers.get('etag')).toBe(etag)
})
