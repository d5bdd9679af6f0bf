// The coding itself, and how far it looks for an older answer.
import { createCipheriv, createHash } from 'node:crypto'
import { zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { encodeDelta, spansWindow } from '#api/history/delta-coding.ts'
import { createDictionaryVersions, NEARBY_VERSIONS } from '#api/history/dictionary-versions.ts'
import { readHistory } from '#api/history/read-history.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import { isDictionary } from '#core/contract/dictionaries.ts'
import { manifest } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'
import { createMemoryStore } from '#storage/memory-store.ts'
import { openStore } from '#storage/open-store.ts'
import { versionOfNight } from '../../support/books/growing-book.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { toBytes } from '../../support/books/publish-in-memory.ts'
import { JSON_HEADERS } from '../../support/books/small-book.ts'
import { pointAt } from '../../support/history/point-to.ts'
import { meddled } from '../../support/stores/store-doubles.ts'
import { bytesOf } from '../../support/stores/stored-bytes.ts'

const MB = 1 << 20

/** The bit of a frame's descriptor that says: the window is the content, and no larger. */
const SINGLE_SEGMENT = 0x20

describe('a delta', () => {
  const aText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('0.01', '\n', ',') }),
  )
  const someBytes = fc.oneof(
    aText.map(text => new TextEncoder().encode(text)),
    fc.uint8Array({ maxLength: 2_000 }),
  )
  const related = fc
    .record({ old: someBytes, added: someBytes, cut: fc.nat(2_000) })
    .map(({ old, added, cut }) => ({
      old,
      now: Buffer.concat([old.subarray(0, cut), added, old.subarray(cut)]),
    }))
  const unrelated = fc.record({ old: someBytes, now: someBytes })

  test('to any dictionary decodes to the answer, whether they have anything in common or not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(related, unrelated), async ({ old, now }) => {
        const delta = await encodeDelta(now, old, sha256(old))
        expect(delta.subarray(0, 8)).toEqual(Uint8Array.of(0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0))
        expect(delta.subarray(8, 40)).toEqual(new Uint8Array(createHash('sha256').update(old).digest()))
        const frame = delta.subarray(40)
        expect(Buffer.from(zstdDecompressSync(frame, { dictionary: old })).equals(Buffer.from(now))).toBe(
          true,
        )
      }),
    )
  })

  test('is of the same bytes each time', async () => {
    const [old, now] = [toBytes(Array.from({ length: 3_000 }, (_, i) => i)), toBytes({ other: true })]
    expect(await encodeDelta(now, old, sha256(old))).toEqual(await encodeDelta(now, old, sha256(old)))
  })

  test.each([1, 3, 9])(
    'to %i MB needs a window of the answer alone, and finds its way through all of it',
    async size => {
      // What looks like chance can be had from the dictionary alone.
      const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16))
      const noise = cipher.update(Buffer.alloc(size * MB))
      const now = Buffer.concat([noise, Buffer.from('a day more')])
      const delta = await encodeDelta(now, noise, sha256(noise))
      expect(delta[44]! & SINGLE_SEGMENT).toBe(SINGLE_SEGMENT) // the byte after the header and the magic number
      expect(delta.length).toBeLessThan(1_000 * size)
      expect(zstdDecompressSync(delta.subarray(40), { dictionary: noise }).equals(now)).toBe(true)
    },
  )
})

test('no answer is told as a delta that needs a larger window than every decoder has', () => {
  expect(spansWindow(8 * MB, 1)).toBe(true)
  expect(spansWindow(8 * MB + 1, 1)).toBe(false)
  expect(spansWindow(15 * MB, 12 * MB)).toBe(true)
  expect(spansWindow(15 * MB + 1, 12 * MB)).toBe(false)
  expect(spansWindow(16 * MB, 16 * MB)).toBe(true)
  expect(spansWindow(16 * MB + 1, 16 * MB)).toBe(false)
  expect(spansWindow(1, 16 * MB + 1)).toBe(false)
})

test('a dictionary is an export, a series of returns or a curve as text, at a canonical point', () => {
  const encodings = { br: { bytes: 1, sha256: '' } }
  const isOne = (url: string) => isDictionary({ url, encodings })
  for (const url of ['/v1/export', '/v1/export?format=csv&period=weekly']) expect(isOne(url), url).toBe(true)
  for (const url of ['/v1/strategies/a_b-1/returns?format=csv', '/v1/strategies/x/curve'])
    expect(isOne(url), url).toBe(true)
  for (const url of [
    '/v1/exports',
    '/v1/strategies/export',
    '/v1/strategies/x/stats',
    '/v1/strategies/x/y/curve',
  ])
    expect(isOne(url), url).toBe(false)
  expect(isDictionary({ url: '/v1/export?format=arrow', encodings: {} })).toBe(false)
})

describe('an older answer is looked for', () => {
  const URL = '/v1/export'
  const VERSIONS = 2 * NEARBY_VERSIONS + 5
  const MIDDLE = NEARBY_VERSIONS + 2

  /** Manifests that name an export each whose digest is the number of the night; there is nothing else in the store. */
  async function openVersions() {
    const tiny = await openStore(inject('tinyStore').url)
    const bytes = await bytesOf(tiny, manifestKey(TINY_VERSION))
    const published = manifest.parse(JSON.parse(new TextDecoder().decode(bytes)))
    const store = createMemoryStore('public')
    for (let night = 0; night < VERSIONS; night++) {
      const version = versionOfNight(night)
      const artifacts = published.artifacts
        .filter(({ url }) => url === URL)
        .map(artifact => ({ ...artifact, sha256: digestOf(night) }))
      const bytes = toBytes({ ...published, version, artifacts })
      await store.create(manifestKey(version), bytes, JSON_HEADERS)
      await pointAt(store, version, sha256(bytes))
    }
    const reads: string[] = []
    const counted = meddled(
      store,
      () => true,
      (bytes, key) => {
        reads.push(key)
        return bytes
      },
    )
    const versions = createDictionaryVersions(counted, () => expect.unreachable())
    const history = await readHistory(store)
    const find = (night: number) => versions.find(history, versionOfNight(MIDDLE), URL, digestOf(night))
    return { find, reads }
  }

  const digestOf = (night: number): string => night.toString(16).padStart(64, '0')

  test('in the versions near the one that is asked for, on both sides, and in no others', async () => {
    const { find } = await openVersions()
    for (let night = 0; night < VERSIONS; night++) {
      const distance = Math.abs(night - MIDDLE)
      const found = await find(night)
      expect(found?.sha256, `night ${night}`).toBe(
        distance > 0 && distance <= NEARBY_VERSIONS ? digestOf(night) : undefined,
      )
    }
  })

  test('in the one before first, and in no manifest twice, however many unknown digests are asked for', async () => {
    const { find, reads } = await openVersions()
    await find(MIDDLE - 1)
    expect(reads).toEqual([manifestKey(versionOfNight(MIDDLE - 1))])
    await Promise.all(Array.from({ length: 50 }, (_, i) => find(1_000 + i)))
    await find(2_000)
    expect(reads.length).toBe(2 * NEARBY_VERSIONS)
    expect(new Set(reads).size).toBe(reads.length)
  })
})
