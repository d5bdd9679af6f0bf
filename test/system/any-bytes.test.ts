// Thousands of connections that bring any bytes at all: nothing but answers of the service's own comes back, it needs
// no more memory afterwards, and it serves the next one.
import { beforeAll, expect, inject, test } from 'vitest'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { servedVersion } from '../support/history/history-process.ts'
import { startBesieged } from '../support/http/history-bytes.ts'

/** Kept answers and what Node keeps of connections for the next ones; a leak of a kilobyte a connection is above it. */
const MOST_GROWTH_BYTES = 4 << 20

let service: Awaited<ReturnType<typeof startBesieged>>
beforeAll(async () => {
  service = await startBesieged(inject('tinyStore'))
})

test('7000 connections of any bytes get only valid answers, and leave no memory behind', async () => {
  await service.send({ batches: 20 })
  await service.readBodies(1) // so that it is cached
  const before = await service.heapBytes()
  await service.send({ batches: 120 })
  await service.readBodies(2 * MOST_GROWTH_BYTES)
  expect(await servedVersion(service)).toBe(TINY_VERSION)
  await service.holdHeapTo(before + MOST_GROWTH_BYTES)
  expect(service.running.printed()).not.toContain('failed on our side')
})
