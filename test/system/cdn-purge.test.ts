// The purge after a publication and a rollback, by the commands themselves, through Varnish, nginx and a tier.
import { setTimeout } from 'node:timers/promises'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { POLL_MS } from '#api/history/version-source.ts'
import { freePort } from '#cli/free-port.ts'
import { type PurgeOrder, purgeCaches } from '#cli/purge-caches.ts'
import { readPurgeDue } from '#static-build/purge-due.ts'
import { openStore } from '#storage/open-store.ts'
import { type Layer, startVarnish } from '../../deploy/layers.ts'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { highwater, startHighwater } from '../support/history/highwater-process.ts'
import { addressIn } from '../support/history/history-process.ts'
import { addressOf, ask, siteOf, startFiles, stopAtEnd } from '../support/servers/cdn.ts'
import { buildArgs, copyStores, lastingFolder, NEXT_VERSION } from '../support/stores/stores.ts'

/** Answers that a cache keeps for a day where nobody purges it. */
const KEPT = ['/v1/dataset', '/v1/strategies', '/v1/export', '/v1/strategies/ash/stats?risk_pct=0.013']

let stores: Stores
let edge: Layer
let startEdgeAgain: () => Promise<Layer>

/** A chain of its own for a few tests: no process of a test lives longer than a minute and a half. */
async function startChain(): Promise<void> {
  stores = await copyStores(inject('tinyStore'))
  const env = {
    STORE_URL: stores.url,
    PRIVATE_STORE_URL: stores.privateUrl,
    HISTORY_PORT: '0',
    CDN_PURGE: 'tag',
  }
  const service = startHighwater(['serve', 'history'], { env })
  const tier = addressIn(await service.prints(/^history service on (http:\/\/\S+)$/m))
  const site = await siteOf(addressOf(tier))
  await startFiles(site)
  const port = await freePort()
  startEdgeAgain = async () => {
    const layer = await startVarnish(await lastingFolder(), site, port)
    stopAtEnd(layer.stop)
    return layer
  }
  edge = await startEdgeAgain()
}

const PATIENT = { timeout: 60_000, interval: 100 }

const anyAnswer = z.object({ meta: z.object({ dataset_version: z.string().nullable() }) })

/** The version that an answer out of the CDN is of, or its status where it tells none. */
async function shown(path: string): Promise<string> {
  const { status, bytes } = await ask(edge.url + path)
  return status === 200 && bytes.length > 0 ? (versionIn(bytes) ?? 'none') : String(status)
}

const versionIn = (bytes: Buffer): string | null =>
  anyAnswer.parse(JSON.parse(bytes.toString())).meta.dataset_version

const allShown = async (): Promise<string[]> => [...new Set(await Promise.all(KEPT.map(shown)))]

/** What is kept of another version stays for a day, so waiting lets none of it pass: only a slow tier is waited for. */
const expectGiven = (version: string): Promise<void> => expect.poll(allShown, PATIENT).toEqual([version])

const cdnEnv = () => ({ CDN_PURGE_URL: edge.url })

const storeArgs = () => ['--store', stores.url, '--private-store', stores.privateUrl]

const privateStore = () => openStore(stores.privateUrl)

const isDue = async (): Promise<boolean> =>
  (await readPurgeDue(await openStore(stores.url), await privateStore())) !== null

describe('through Varnish and a tier that looks at the pointer every few seconds', () => {
  beforeAll(startChain)

  test('without a purge caches would give the old version for a day: what the rest of this file is about', async () => {
    await expect.poll(() => shown('/readyz'), PATIENT).toBe(TINY_VERSION)
    expect(await allShown()).toEqual([TINY_VERSION])
    expect(await highwater(buildArgs(stores))).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('purge'),
    })
    await expect.poll(() => shown('/readyz'), PATIENT).toBe(NEXT_VERSION)
    expect(await allShown()).toEqual([TINY_VERSION])
    expect(await isDue()).toBe(true)
  })

  test('`highwater purge` does what another process left behind, and then there is nothing more to do', async () => {
    const purge = () => highwater(['purge', ...storeArgs(), '--json'], { env: cdnEnv() })
    const first = await purge()
    expect([first.code, first.stderr]).toEqual([0, ''])
    expect(JSON.parse(first.stdout)).toEqual({ kind: 'purged', seq: 2, version: NEXT_VERSION })
    await expectGiven(NEXT_VERSION)
    expect(JSON.parse((await purge()).stdout)).toEqual({ kind: 'nothing due' })
  })

  test('a rollback purges at its end, though the tier follows only seconds after the pointer', async () => {
    const moved = await highwater(['rollback', TINY_VERSION, ...storeArgs()], { env: cdnEnv() })
    expect(moved).toMatchObject({ code: 0, stderr: `purged: caches give ${TINY_VERSION}\n` })
    await expectGiven(TINY_VERSION)
  })
})

/**
 * As the commands do it, but with pauses that are just long enough for the tier to look at the pointer, and anew where
 * that was not enough, as a timer would. Resolves when caches follow.
 */
async function purgeHere(during: (pause: number) => Promise<void> = async () => {}): Promise<void> {
  let pauses = 0
  const pause: PurgeOrder['pause'] = async ms => {
    await during(++pauses)
    await setTimeout(Math.min(ms, POLL_MS / 5))
  }
  const cdn = { purgeUrls: [edge.url], purgeCommand: null, urls: [edge.url] }
  const order = {
    store: await openStore(stores.url),
    privateStore: await privateStore(),
    cdn,
    env: {},
    pause,
  }
  const tell = async (): Promise<string> => {
    const outcome = await purgeCaches(order)
    return outcome.kind === 'late' ? outcome.why : outcome.kind
  }
  await expect.poll(tell, PATIENT).toBe('purged')
}

describe('when something goes wrong:', () => {
  beforeAll(startChain)

  test('killed right after the pointer moved, its purge is done by the next command, whichever that is', async () => {
    await expect.poll(() => shown('/readyz'), PATIENT).toBe(TINY_VERSION)
    expect(await allShown()).toEqual([TINY_VERSION])
    const env = { ...cdnEnv(), CDN_URL: 'http://127.0.0.1:1' } // nobody is there, so it never comes to an end by itself
    const building = startHighwater(buildArgs(stores), { env })
    await building.prints(/^published /m)
    building.kill('SIGKILL')
    expect((await building.ended).signal).toBe('SIGKILL')
    expect(await isDue()).toBe(true)
    const refreshed = await highwater(['refresh', ...storeArgs()], { env: cdnEnv() })
    expect(refreshed).toMatchObject({ code: 0, stderr: `purged: caches give ${NEXT_VERSION}\n` })
    await expectGiven(NEXT_VERSION)
  })

  test('with Varnish down the version is published all the same, and purged when Varnish is back', async () => {
    await edge.stop()
    expect(await highwater(['rollback', TINY_VERSION, ...storeArgs()])).toMatchObject({ code: 0 })
    await purgeHere(async pause => {
      if (pause === 2) edge = await startEdgeAgain()
    })
    await expectGiven(TINY_VERSION)
  })

  test('a purge that somebody sent before the tier had swapped is made good', async () => {
    expect(await highwater(['rollback', NEXT_VERSION, ...storeArgs()])).toMatchObject({ code: 0 })
    await ask(`${edge.url}/`, { xkey: 'unpinned' }, 'PURGE')
    await allShown() // the cache is full once more, of whichever version the tier serves at this moment
    await purgeHere()
    await expectGiven(NEXT_VERSION)
    expect(await isDue()).toBe(false)
  })
})
