// What every object store does, wherever its bytes lie.
import { expect, test } from 'vitest'
import { sha256 } from '#storage/digest.ts'
import { measure } from '#storage/measure.ts'
import { assertCreatesOnce, type ObjectStore, writeOnce } from '#storage/object-store.ts'

const HEADERS = { content_type: 'text/plain' }

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const text = (read: Uint8Array | null): string | null =>
  read === null ? null : new TextDecoder().decode(read)

/** The suite over one implementation; `open` opens an empty store. */
export function testConformance(name: string, open: () => ObjectStore | Promise<ObjectStore>): void {
  test(`the ${name} store reads back what was created, and null where there is nothing`, async () => {
    const store = await open()
    expect(await store.create('a/b.json', bytes('one'), HEADERS)).toBe(true)
    expect(text(await store.read('a/b.json'))).toBe('one')
    expect(await store.read('a/c.json')).toBeNull()
  })

  test(`the ${name} store has objects that are measured as their bytes are`, async () => {
    const store = await open()
    for (const size of [0, 1, 2 ** 20, 2 ** 20 + 1]) {
      await store.create(`of/${size}`, new Uint8Array(size).fill(7), HEADERS)
      const expected = { bytes: size, sha256: sha256(new Uint8Array(size).fill(7)) }
      expect(await measure(store, `of/${size}`)).toEqual(expected)
    }
    expect(await measure(store, 'of/none')).toBeNull()
  })

  test(`the ${name} store has what was created, whatever its bytes, until it is removed`, async () => {
    const store = await open()
    expect(await store.has('a/b')).toBe(false)
    await store.create('a/b', new Uint8Array(0), HEADERS)
    expect(await store.has('a/b')).toBe(true)
    for (const other of ['a', 'a/c', 'a/bc']) expect(await store.has(other), other).toBe(false)
    await store.remove('a/b')
    expect(await store.has('a/b')).toBe(false)
  })

  test(`the ${name} store is found to create once, by many at the same time and again later`, async () => {
    const store = await open()
    await Promise.all(Array.from({ length: 5 }, () => assertCreatesOnce(store)))
    await assertCreatesOnce(store)
  })

  test(`the ${name} store lets exactly one of many racers create, with other bytes or the very same`, async () => {
    const store = await open()
    const racers = Array.from({ length: 20 }, (_, i) => store.create('race', bytes(`racer ${i}`), HEADERS))
    const won = await Promise.all(racers)
    expect(won.filter(Boolean)).toHaveLength(1)
    expect(text(await store.read('race'))).toBe(`racer ${won.indexOf(true)}`)
    const alike = await Promise.all(racers.map(() => store.create('alike', bytes('x'), HEADERS)))
    expect(alike.filter(Boolean)).toHaveLength(1)
  })

  test(`the ${name} store replaces whole, whether or not there was something`, async () => {
    const store = await open()
    await store.replace('k', bytes('a long first text'), HEADERS)
    await store.replace('k', bytes('short'), HEADERS)
    expect(text(await store.read('k'))).toBe('short')
  })

  test(`the ${name} store shows a reader during replacements one of the texts, whole`, async () => {
    const store = await open()
    const texts = ['x'.repeat(100_000), 'y'.repeat(200_000)]
    await store.replace('k', bytes(texts[0]!), HEADERS)
    const write = async () => {
      for (let i = 0; i < 20; i++) await store.replace('k', bytes(texts[i % 2]!), HEADERS)
    }
    const read = async () => {
      for (let i = 0; i < 40; i++) expect(texts).toContain(text(await store.read('k')))
    }
    await Promise.all([write(), read()])
  })

  test(`the ${name} store lists the keys in a folder, ascending, and none of a name that begins like it`, async () => {
    const store = await open()
    const keys = ['v1.private/a', 'v1/a', 'v1/b/10', 'v1/b/2', 'v10/a']
    for (const key of keys.toReversed()) await store.create(key, bytes(key), HEADERS)
    expect(await store.list('v1/')).toEqual(['v1/a', 'v1/b/10', 'v1/b/2'])
    expect(await store.list('')).toEqual(keys)
    expect(await store.list('v3/')).toEqual([])
  })

  test(`the ${name} store removes, and removing what is not there is fine`, async () => {
    const store = await open()
    await store.create('k', bytes('x'), HEADERS)
    await store.remove('k')
    await store.remove('k')
    expect(await store.read('k')).toBeNull()
    expect(await store.create('k', bytes('again'), HEADERS)).toBe(true)
  })

  test(`the ${name} store keeps a copy: later changes of the buffer are not in the store`, async () => {
    const store = await open()
    const buffer = bytes('stable')
    await store.create('k', buffer, HEADERS)
    buffer.fill(0)
    expect(text(await store.read('k'))).toBe('stable')
  })

  test.each(['', '/a', 'a/', 'a//b', '..', 'a/../b', '.hidden', 'a b', 'ä', 'a\\b', 'x'.repeat(513)])(
    `the ${name} store refuses the key %j`,
    async key => {
      const store = await open()
      await expect(async () => store.create(key, bytes('x'), HEADERS)).rejects.toThrow('not a key')
      await expect(async () => store.read(key)).rejects.toThrow('not a key')
      await expect(async () => store.has(key)).rejects.toThrow('not a key')
    },
  )

  test(`the ${name} store takes the same bytes again when they are written once, and refuses others`, async () => {
    const store = await open()
    await writeOnce(store, 'k', bytes('published'), HEADERS)
    await writeOnce(store, 'k', bytes('published'), HEADERS)
    await expect(writeOnce(store, 'k', bytes('changed'), HEADERS)).rejects.toThrow('exists with other bytes')
    expect(text(await store.read('k'))).toBe('published')
  })
}
