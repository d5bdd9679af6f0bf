// Thousands of connections that bring any bytes at all: nothing but answers of the service's own comes back, it needs
// no more memory afterwards, and it serves the next one.
import fc from 'fast-check'
import { beforeAll, expect, inject, test } from 'vitest'
import { anyBytes } from '../setup/any-bytes.ts'
import { collectedHeapBytes, startInspected } from '../setup/heap-of.ts'
import type { Running } from '../setup/highwater-process.ts'
import { addressIn, servedVersion } from '../setup/history-process.ts'
import { judgeBytes } from '../setup/judge-bytes.ts'
import { TINY_VERSION } from '../setup/publish-book.ts'

/** Connections at a time. */
const AT_ONCE = 50

/** Kept answers and what Node keeps of connections for the next ones; a leak of a kilobyte a connection is above it. */
const MOST_GROWTH_BYTES = 4 << 20

let running: Running
let url: string

beforeAll(async () => {
  const { url: STORE_URL, privateUrl: PRIVATE_STORE_URL } = inject('tinyStore')
  running = startInspected(['serve', 'history'], { STORE_URL, PRIVATE_STORE_URL, HISTORY_PORT: '0' })
  url = addressIn(await running.prints(/^history service on (http:\S+)$/m))
})

const send = (batches: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(anyBytes, { minLength: AT_ONCE, maxLength: AT_ONCE }), async connections => {
      const problems = await Promise.all(connections.map(sent => judgeBytes(url, sent)))
      expect(problems.flat()).toEqual([])
    }),
    { numRuns: batches, endOnFailure: true }, // a batch is no smaller for a smaller failure
  )

test('6000 connections of any bytes hear nothing but sound answers, and leave nothing behind', async () => {
  await send(20)
  const before = await collectedHeapBytes(running)
  await send(100)
  expect(await servedVersion({ url })).toBe(TINY_VERSION)
  expect((await collectedHeapBytes(running)) - before).toBeLessThan(MOST_GROWTH_BYTES)
  expect(running.printed()).not.toContain('failed on our side')
})
