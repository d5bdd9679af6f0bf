// A tier that is read without a pause while its stores change: every answer is a published file.
import { setTimeout as after } from 'node:timers/promises'
import { inject } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import { sha256 } from '#storage/digest.ts'
import { type Stores, TINY_VERSION } from '../books/publish-book.ts'
import type { Content } from '../kills/kill-rounds.ts'
import { until } from '../signals/delivery.ts'
import { pointerOf, versionContentOf } from '../stores/stores.ts'
import { servedVersion, startServing } from './history-process.ts'

/** A small answer, a large one, and one that is pinned. */
const PATHS = ['/v1/summary', '/v1/export', `/v1/snapshots/${toCompactInstant(TINY_VERSION)}/strategies`]

/** Between two rounds of questions, so that the builds have the machine as well. */
const PAUSE_MS = 300

/**
 * Runs something beside a tier that is read without a pause, and compares every answer with the file of the version that it
 * names. In the end the tier serves the newest version. Returns how many answers there were; throws the first torn one.
 */
export async function whileReading(stores: Stores, content: Content, run: () => Promise<unknown>) {
  const tier = await startServing(stores)
  const published = { ...(await versionContentOf(inject('tinyStore'))), ...content } // in the stores are its bytes
  let [isOver, answers] = [false, 0]
  const reading = (async () => {
    while (!isOver) {
      for (const path of PATHS) await assertPublished(`${tier.url}${path}`, published)
      answers += PATHS.length
      await after(PAUSE_MS)
    }
  })()
  try {
    await Promise.race([run(), reading])
    await until(async () => (await servedVersion(tier)) === (await pointerOf(stores)))
  } finally {
    isOver = true
    await reading.finally(() => tier.kill('SIGKILL'))
  }
  return answers
}

/** An answer is, byte for byte, the file of the one version that it says it is of. */
async function assertPublished(url: string, published: Content): Promise<void> {
  const answer = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
  const bytes = new Uint8Array(await answer.arrayBuffer())
  const twin = answer.headers.get('content-location') ?? new URL(url).pathname
  const digest = sha256(bytes)
  const file = Object.keys(published).find(key => published[key] === digest)
  const folder = twin.split('/').slice(0, 4).join('/').slice(1)
  if (answer.status === 200 && file?.startsWith(`${folder}/`)) return
  throw new Error(`${url} was answered ${answer.status} with ${digest}, which is not the file of ${twin}`)
}
