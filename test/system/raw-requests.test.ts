// A malformed or hostile request is refused or its connection closed, and nothing of it reaches the next one.
import { beforeAll, expect, inject, test } from 'vitest'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { servedVersion } from '../support/history/history-process.ts'
import { startBesieged } from '../support/http/history-bytes.ts'

let service: Awaited<ReturnType<typeof startBesieged>>
beforeAll(async () => {
  service = await startBesieged(inject('tinyStore'))
})

/** Kept answers and what Node keeps of connections for the next ones; a leak of a kilobyte a connection is above it. */
const MOST_GROWTH_BYTES = 2 << 20

test('3750 connections of any bytes get only valid answers, leave no memory behind, and the next request is answered', async () => {
  await service.send({ batches: 15, seed: 1 })
  await service.readBodies(1) // so that it is cached
  const before = await service.heapBytes()
  await service.send({ batches: 60, seed: 2 })
  await service.readBodies(2 * MOST_GROWTH_BYTES)
  expect(await servedVersion(service)).toBe(TINY_VERSION)
  await service.holdHeapTo(before + MOST_GROWTH_BYTES)
  expect(service.running.printed()).not.toContain('failed on our side')
})
