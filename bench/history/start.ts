// From the start of the process to the first answer, and memory while a version takes the place of another.

import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { generatedId, generateSnapshot, publishWithoutFiles } from '../harness/generated-store.ts'
import type { Ground, PublishedStore } from '../harness/ground.ts'
import { median } from '../harness/load.ts'
import { atMost, plain, type Section } from '../harness/report.ts'
import { type PinnedServer, peakMib, startTier } from '../harness/servers.ts'

const STRATEGIES = 1000
const DAYS = 3650
const STARTS = 5
const SAMPLE_SECONDS = 0.5
const LARGE_SECONDS = 3
const MOST_MIB = 600
const VERSIONS = ['2026-07-01T00:15:00Z', '2026-07-02T00:15:00Z', '2026-07-03T00:15:00Z'] as const

/** Three curves of each strategy with zstd, 26 kB each: more than the cache of computed answers takes. */
const FILLING_LEVELS = [0.011, 0.012, 0.013]
const FILLING_AT_ONCE = 8

/** Two are all that may be made at a time. */
const EXPORT_LEVELS = [0.011, 0.012]

/** A reader that has taken as much and stands still leaves all of it held: the limit of an export, less a chunk. */
const TAKEN_BYTES = 15 << 20

/** The tier looks every 5 seconds. */
const SWAP_TRIES = 600
const SWAP_PAUSE_MS = 100

export async function measureStart({ folder, sample, stops }: Ground): Promise<Section> {
  const large = join(folder, 'large')
  const snapshot = generateSnapshot(STRATEGIES, DAYS, VERSIONS[0])
  const store = await publishWithoutFiles(large, snapshot)
  const figures = [
    atMost('the sample book: start to ready', await secondsToReady(sample), SAMPLE_SECONDS, 's'),
    atMost(`${STRATEGIES} strategies: start to ready`, await secondsToReady(store), LARGE_SECONDS, 's'),
  ]
  const publish = (version: string) =>
    publishWithoutFiles(large, { ...snapshot, dataset: { ...snapshot.dataset, version } })
  const swap = async (version: string, isBusy: boolean): Promise<number> => {
    const tier = await startTier(store.url, 'all')
    stops.push(tier.stop)
    const letGo = isBusy ? await keepBusy(tier) : async () => {}
    await publish(version)
    await untilItServes(tier, version)
    const peak = await peakMib(tier.pid)
    await letGo()
    await tier.stop()
    return peak
  }
  const name = `${STRATEGIES} strategies: most memory through a swap`
  figures.push(atMost(name, await swap(VERSIONS[1], false), MOST_MIB, 'MiB'))
  figures.push(plain(`${name}, computed answers and two exports held`, await swap(VERSIONS[2], true), 'MiB'))
  return {
    title: 'Start and swap',
    about:
      '`cli/launcher.mjs serve history`, as an operator starts it, run by the Node that comes with the dependencies, from the ' +
      `start of the process to its first answer of \`/readyz\`, on all cores: the median of ${STARTS} after one that is not ` +
      'counted, which leaves the compiled modules for all later ones, as the first on any machine does; ' +
      `${STRATEGIES} generated strategies over ${DAYS} days, which another version replaces while the process serves: once with ` +
      'empty caches; and once with that of computed answers full, and two exports that stand still, of each as much held as ' +
      'ever is.',
    figures,
  }
}

async function secondsToReady({ url }: PublishedStore): Promise<number> {
  await (await startTier(url, 'all')).stop() // it writes what it compiled when it ends
  const taken: number[] = []
  for (let i = 0; i < STARTS; i++) {
    const begin = performance.now()
    const tier = await startTier(url, 'all')
    const { status } = await fetch(`${tier.url}/readyz`)
    taken.push((performance.now() - begin) / 1000)
    await tier.stop()
    if (status !== 200) throw new Error(`the tier answered /readyz with ${status}`)
  }
  return median(taken)
}

/** Fills the cache of computed answers and holds exports; gives what lets them go. */
async function keepBusy(tier: PinnedServer): Promise<() => Promise<void>> {
  await fillComputed(tier)
  return holdExports(tier)
}

/** Asks for every curve at other levels. */
async function fillComputed({ url }: PinnedServer): Promise<void> {
  const paths = FILLING_LEVELS.flatMap(level =>
    Array.from({ length: STRATEGIES }, (_, i) => `/v1/strategies/${generatedId(i)}/curve?risk_pct=${level}`),
  )
  const askNext = async (): Promise<void> => {
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
      const response = await fetch(url + path, { headers: { 'accept-encoding': 'zstd' } })
      if (response.status !== 200) throw new Error(`the tier answered ${path} with ${response.status}`)
      await response.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: FILLING_AT_ONCE }, askNext))
}

/** Opens exports, reads of each as much as is held of one, and gives what lets them go. */
async function holdExports({ url }: PinnedServer): Promise<() => Promise<void>> {
  const readers = await Promise.all(
    EXPORT_LEVELS.map(level => holdExport(`${url}/v1/export?risk_pct=${level}`)),
  )
  return async () => {
    for (const reader of readers) await reader.cancel()
  }
}

async function holdExport(url: string) {
  const { status, body } = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
  if (status !== 200 || body === null) throw new Error(`the tier answered ${url} with ${status}`)
  const reader = body.getReader()
  for (let taken = 0; taken < TAKEN_BYTES; ) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`${url} is too small to be held`)
    taken += value.length
  }
  return reader
}

const versionAnswer = z.object({ data: z.object({ dataset_version: z.string().nullable() }) })

async function untilItServes({ url }: PinnedServer, version: string): Promise<void> {
  for (let tries = 0; tries < SWAP_TRIES; tries++) {
    const { data } = versionAnswer.parse(await (await fetch(`${url}/version`)).json())
    if (data.dataset_version === version) return
    await wait(SWAP_PAUSE_MS)
  }
  throw new Error(`the tier does not serve ${version}`)
}
