// Any bytes at all, sent to the history service without end: `make soak`, with MINUTES and SEED. The first answer that is
// not sound ends it with the seed to replay it, and so does a heap that has grown.
import { expect, inject, test } from 'vitest'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { servedVersion } from '../support/history/history-process.ts'
import { AT_ONCE, startBesieged } from '../support/http/history-bytes.ts'
import { MINUTES, SEED, startProgress } from './soak.ts'

/** Batches of one seed; the heap is looked at after each of them. */
const BATCHES = 100

/** The same for an hour as for a minute: the caches are full after the first round. */
const MOST_GROWTH_BYTES = 8 << 20

test(`the history service is sent any bytes (seed ${SEED}) for ${MINUTES} minutes, answers soundly and keeps its heap`, async () => {
  const service = await startBesieged(inject('tinyStore'), (MINUTES + 5) * 60_000)
  const progress = startProgress('any-request')
  await service.send({ batches: BATCHES, seed: SEED })
  await service.readBodies(1) // so that it is cached
  const before = await service.heapBytes()
  let [rounds, grown] = [1, 0]
  while (!progress.isOver()) {
    await service.send({ batches: BATCHES, seed: SEED + rounds })
    await service.readBodies(2 * MOST_GROWTH_BYTES)
    rounds++
    await service.holdHeapTo(before + MOST_GROWTH_BYTES)
    grown = (await service.heapBytes()) - before
    expect(await servedVersion(service)).toBe(TINY_VERSION)
    progress.print(`${rounds * BATCHES * AT_ONCE} connections, heap ${Math.round(grown / 1024)} KiB more`)
  }
  expect(service.running.printed()).not.toContain('failed on our side')
})
