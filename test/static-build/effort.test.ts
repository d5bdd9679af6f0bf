import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
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

const quality = (bytes: Uint8Array, level: number): number =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: level,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  }).length

const sizes = (bytes: Uint8Array, format: 'json' | 'csv', effort: (typeof EFFORTS)[number]) =>
  compressTwins(bytes, format, effort).map(twin => twin.bytes.length)

describe('the effort of compression', () => {
  test('quick is brotli 5 for everything, good brotli 10 for JSON of a page and 5 for the rest, best brotli 11', () => {
    expect(sizes(TEXT, 'json', 'quick')[0]).toBe(quality(TEXT, 5))
    expect(sizes(TEXT, 'csv', 'good')[0]).toBe(quality(TEXT, 5))
    expect(sizes(TEXT, 'json', 'good')[0]).toBe(quality(TEXT, 10))
    expect(sizes(TEXT, 'csv', 'best')[0]).toBe(quality(TEXT, 11))
    const exported = LARGE.subarray(0, 1 << 18)
    expect(sizes(exported, 'json', 'good')[0]).toBe(quality(exported, 5))
    expect(new Set([5, 10, 11].map(level => quality(TEXT, level))).size).toBe(3)
  })

  test('makes no file of a megabyte wait: there best and good are the same', () => {
    expect(compressTwins(LARGE, 'json', 'best')).toEqual(compressTwins(LARGE, 'json', 'good'))
  })

  test.each(EFFORTS)('%s loses nothing, and makes the same bytes of the same text', effort => {
    const [br, gzip] = compressTwins(TEXT, 'json', effort)
    expect(brotliDecompressSync(br!.bytes).equals(TEXT)).toBe(true)
    expect(gunzipSync(gzip!.bytes).equals(TEXT)).toBe(true)
    expect(compressTwins(TEXT, 'json', effort)).toEqual([br, gzip])
  })

  test('is in the manifest, as it was ordered', async () => {
    const stores = createMemoryStores()
    const order = { ...orderOf(HAND_VERSION, stores), render: renderHere }
    expect((await publishVersion(order)).manifest.built_with.effort).toBe('good')
    const quick = {
      ...orderOf(HAND_VERSION, createMemoryStores()),
      render: renderHere,
      effort: 'quick' as const,
    }
    expect((await publishVersion(quick)).manifest.built_with.effort).toBe('quick')
  })

  test('a version is finished with the effort that it was started with: another is refused', async () => {
    const stores = createMemoryStores()
    const order = { ...orderOf(HAND_VERSION, stores), render: renderHere }
    await publishVersion(order)
    await expect(publishVersion({ ...order, effort: 'quick' })).rejects.toThrow(
      'exists with other bytes, and what is published never changes: build under a new --version, or use the code, the ' +
        'book and the --effort that made it',
    )
    expect(await stores.store.read(manifestKey(HAND_VERSION))).not.toBeNull()
    expect(await publishVersion(order)).toMatchObject({ manifest: { built_with: { effort: 'good' } } })
  })
})
