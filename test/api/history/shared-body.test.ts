// One body, made once, read by many: the same bytes for each, and never more of it made than somebody will read.
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BodyLimits, type BodyReader, createSharedBody } from '#api/history/shared-body.ts'

const ROOMY: BodyLimits = { aheadBytes: 1e9, heldBytes: 1e9 }

/** A body of these chunks that tells how many were made, what it was whole, and when nobody was left. */
function openBody(chunks: readonly Uint8Array<ArrayBuffer>[], limits: BodyLimits, failsAt = -1) {
  const told = { made: 0, isClosed: false, isDeserted: false, whole: null as Uint8Array | null }
  async function* make() {
    try {
      for (const chunk of chunks) {
        await setImmediate()
        if (told.made === failsAt) throw new Error('out of digits')
        told.made++
        yield chunk
      }
    } finally {
      told.isClosed = true
    }
  }
  const body = createSharedBody(make(), limits, {
    onWhole: bytes => {
      told.whole = bytes
    },
    onDeserted: () => {
      told.isDeserted = true
    },
  })
  return { join: () => body.join()!, joinLate: () => body.join(), told }
}

async function readAll(reader: BodyReader): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for (;;) {
    const chunk = await reader.next()
    if (chunk === null) return Buffer.concat(chunks)
    chunks.push(chunk)
  }
}

/** Long enough for all that can happen without a reader to have happened. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await setImmediate()
}

const chunksOf = (count: number, length: number): Uint8Array<ArrayBuffer>[] =>
  Array.from({ length: count }, (_, i) => new Uint8Array(length).fill(i))

describe('a shared body', () => {
  test('is the same for every reader, whoever comes when and reads how fast, within any limits', async () => {
    const anyChunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 9 }), { maxLength: 20 })
    const anyPauses = fc.array(fc.array(fc.nat(2), { maxLength: 20 }), { minLength: 1, maxLength: 4 })
    const anyLimits = fc.record({
      aheadBytes: fc.integer({ min: 1, max: 60 }),
      heldBytes: fc.integer({ min: 9, max: 200 }),
    })
    await fc.assert(
      fc.asyncProperty(anyChunks, anyPauses, anyLimits, async (chunks, pauses, limits) => {
        const expected = Buffer.concat(chunks)
        const { join, told } = openBody(
          chunks.map(chunk => new Uint8Array(chunk)),
          limits,
        )
        const read = async (reader: BodyReader, waits: readonly number[]) => {
          const read: Uint8Array[] = []
          for (let i = 0; ; i++) {
            for (let turn = 0; turn < (waits[i] ?? 0); turn++) await setImmediate()
            const chunk = await reader.next()
            if (chunk === null) return Buffer.concat(read)
            read.push(chunk)
          }
        }
        const bodies = await Promise.all(pauses.map(waits => read(join(), waits)))
        for (const body of bodies) expect(body.equals(expected)).toBe(true)
        expect(told.made).toBe(chunks.length)
        expect(told.isDeserted).toBe(true)
        expect(told.whole === null).toBe(expected.length >= limits.heldBytes)
      }),
      { numRuns: 100 },
    )
  })

  test('is not begun before somebody reads, and is made no further ahead of the quickest than it may', async () => {
    const { join, told } = openBody(chunksOf(20, 10), { ...ROOMY, aheadBytes: 30 })
    await settle()
    expect(told.made).toBe(0)
    const [quick, slow] = [join(), join()]
    await settle()
    expect(told.made).toBe(3)
    for (let i = 0; i < 5; i++) await quick.next()
    await settle()
    expect(told.made).toBe(8)
    expect(await readAll(slow)).toHaveLength(200)
  })

  test('waits for the slowest where more would have to be held than may be, and cannot be joined from then on', async () => {
    const { join, joinLate, told } = openBody(chunksOf(20, 10), { aheadBytes: 1_000, heldBytes: 50 })
    const [quick, slow] = [join(), join()]
    const whole = readAll(quick)
    await settle()
    expect(told.made).toBe(5)
    for (let i = 0; i < 2; i++) await slow.next()
    await settle()
    expect(told.made).toBe(7)
    expect(joinLate()).toBeNull()
    expect(await readAll(slow)).toEqual(Buffer.concat(chunksOf(20, 10).slice(2)))
    expect(await whole).toEqual(Buffer.concat(chunksOf(20, 10)))
  })

  test('goes on without the slowest once that one has left', async () => {
    const { join, joinLate, told } = openBody(chunksOf(20, 10), { aheadBytes: 1_000, heldBytes: 50 })
    const [quick, slow] = [join(), join()]
    const whole = readAll(quick)
    await settle()
    slow.leave()
    expect(await whole).toHaveLength(200)
    expect(await slow.next()).toBeNull()
    expect(joinLate()).toBeNull()
    expect(told).toMatchObject({ isDeserted: true, whole: null })
  })

  test('is made no further, and closed, when the last reader leaves in the middle', async () => {
    const { join, joinLate, told } = openBody(chunksOf(20, 10), { ...ROOMY, aheadBytes: 30 })
    const reader = join()
    await reader.next()
    const waiting = readAll(reader)
    reader.leave()
    expect(told.isDeserted).toBe(true)
    expect((await waiting).length).toBeLessThan(200)
    await settle()
    expect(told).toMatchObject({ isClosed: true, whole: null })
    expect(told.made).toBeLessThan(6)
    expect(joinLate()).toBeNull()
  })

  test('that cannot be made further says why to each, after what was made, and is over when they have left', async () => {
    const { join, joinLate, told } = openBody(chunksOf(20, 10), ROOMY, 3)
    const readers = [join(), join()]
    for (const reader of readers) {
      for (let i = 0; i < 3; i++) expect(await reader.next()).toHaveLength(10)
      await expect(reader.next()).rejects.toThrow('out of digits')
    }
    expect(joinLate()).toBeNull()
    expect(told.isDeserted).toBe(false)
    for (const reader of readers) reader.leave()
    expect(told).toMatchObject({ isDeserted: true, whole: null })
  })

  test('tells one who had to leave the reason, and the others nothing', async () => {
    const { join } = openBody(chunksOf(4, 10), ROOMY)
    const [late, other] = [join(), join()]
    late.leave(new Error('too late'))
    await expect(late.next()).rejects.toThrow('too late')
    expect(await readAll(other)).toHaveLength(40)
  })
})
