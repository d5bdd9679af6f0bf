import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { manifestKey } from '#core/contract/artifacts.ts'
import { EFFORTS } from '#core/contract/effort.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import { compressTwins } from '#static-build/render-point.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import { createMemoryStores } from '#test/support/books/publish-in-memory.ts'
import { orderOf, renderHere } from './hand-order.ts'

/** Numbers as they are published: what Brotli 11 is far better at than 5. */
const TEXT = new TextEncoder().encode(
  JSON.stringify(
    Array.from({ length: 3_000 }, (_, i) => Number((1 + Math.sin(i * i) / 100).toPrecision(10))),
  ),
)
const LARGE = new Uint8Array((1 << 20) + 1).fill(48)

const quality = (bytes: Uint8Array, level: number, window = 22): number =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: level,
      [constants.BROTLI_PARAM_LGWIN]: window,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  }).length

const sizes = (bytes: Uint8Array, kind: 'json' | 'table' | 'page', effort: (typeof EFFORTS)[number]) =>
  compressTwins(bytes, kind, effort).map(twin => twin.bytes.length)

test('quick compression is brotli 5 for everything, good brotli 10 for JSON that is no table and 5 for the rest, best brotli 11', () => {
  expect(sizes(TEXT, 'json', 'quick')[0]).toBe(quality(TEXT, 5))
  expect(sizes(TEXT, 'page', 'good')[0]).toBe(quality(TEXT, 5))
  expect(sizes(TEXT, 'json', 'good')[0]).toBe(quality(TEXT, 10))
  expect(sizes(TEXT, 'page', 'best')[0]).toBe(quality(TEXT, 11))
  expect(new Set([5, 10, 11].map(level => quality(TEXT, level))).size).toBe(3)
})

test('a table is compressed within a window of a row or two, which makes both twins smaller at every level', () => {
  expect(sizes(TEXT, 'table', 'quick')[0]).toBe(quality(TEXT, 5, 10))
  expect(sizes(TEXT, 'table', 'good')[0]).toBe(quality(TEXT, 5, 10))
  expect(sizes(TEXT, 'table', 'best')[0]).toBe(quality(TEXT, 11, 10))
  for (const effort of ['quick', 'good'] as const) {
    const [br, gzip] = sizes(TEXT, 'table', effort)
    expect(br!).toBeLessThan(quality(TEXT, 5))
    expect(gzip!).toBeLessThan(gzipSync(TEXT, { level: effort === 'good' ? 6 : 4 }).length)
  }
})

test('compression makes no gzip twin of a page', () => {
  expect(compressTwins(TEXT, 'page', 'good').map(({ coding }) => coding)).toEqual(['br'])
  expect(compressTwins(TEXT, 'json', 'good').map(({ coding }) => coding)).toEqual(['br', 'gzip'])
})

test('a file of a megabyte is compressed alike at the efforts good and best', () => {
  expect(compressTwins(LARGE, 'json', 'best')).toEqual(compressTwins(LARGE, 'json', 'good'))
})

test.each(EFFORTS)(
  'compression with the effort %s loses nothing, and makes the same bytes of the same text',
  effort => {
    const [br, gzip] = compressTwins(TEXT, 'table', effort)
    expect(brotliDecompressSync(br!.bytes).equals(TEXT)).toBe(true)
    expect(gunzipSync(gzip!.bytes).equals(TEXT)).toBe(true)
    expect(compressTwins(TEXT, 'table', effort)).toEqual([br, gzip])
  },
)

test('the manifest has the effort of compression that was ordered', async () => {
  const stores = createMemoryStores()
  const order = { ...orderOf(HAND_VERSION, stores), render: renderHere, effort: 'good' as const }
  expect((await publishVersion(order)).manifest.built_with.effort).toBe('good')
  const quick = { ...orderOf(HAND_VERSION, createMemoryStores()), render: renderHere }
  expect((await publishVersion(quick)).manifest.built_with.effort).toBe('quick')
})

test('a version is finished with the effort of compression that it was started with: another is refused', async () => {
  const stores = createMemoryStores()
  const order = { ...orderOf(HAND_VERSION, stores), render: renderHere, effort: 'good' as const }
  await publishVersion(order)
  await expect(publishVersion({ ...order, effort: 'quick' })).rejects.toThrow(
    'exists with other bytes, and what is published never changes: build under a new --version, or use the code, the ' +
      'book and the --effort that made it',
  )
  expect(await stores.store.read(manifestKey(HAND_VERSION))).not.toBeNull()
  expect(await publishVersion(order)).toMatchObject({ manifest: { built_with: { effort: 'good' } } })
})
