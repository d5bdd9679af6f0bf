import { expect, test } from 'vitest'
import { z } from 'zod'
import { leaveSimulatedWeeks, SIMULATED_ORIGIN, sealSimulatedWeeks } from '#cli/build/simulated-live.ts'
import { privateKey, versionFolder } from '#core/contract/artifacts.ts'
import { SEALS_PREFIX, sealKey } from '#core/contract/seals.ts'
import { SAMPLE_VERSION, writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { readDocument } from '#storage/json-bytes.ts'
import { openStore } from '#storage/open-store.ts'
import {
  chainFaults,
  gapsOf,
  openSeals,
  readNewestSeal,
  readOriginKeys,
  readSeals,
} from '#storage/seals/chain.ts'
import {
  lastSeqOf,
  parseItem,
  recordKey,
  sealCheck,
  sealOf,
  sealRecord,
  signSeal,
} from '#storage/seals/seal.ts'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import { run } from '../cli/made-up.ts'
import type { Stores } from '../support/books/publish-book.ts'
import { createMemoryStores } from '../support/books/publish-in-memory.ts'
import { startHighwater } from '../support/history/highwater-process.ts'
import { servedVersion, startServing } from '../support/history/history-process.ts'
import { shared } from '../support/runner/shared.ts'
import { bytesOf } from '../support/stores/stored-bytes.ts'
import { buildBegan, contentOf, faultsOf, newStores, pointerOf } from '../support/stores/stores.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const liveAnswer = z.object({
  data: z.object({ entries: z.record(z.string(), z.number()) }),
  meta: z.object({ note: z.string() }),
})
const catalogue = z.object({ data: z.array(z.object({ id: z.string(), verification_state: z.string() })) })

test('`highwater run` builds the sample where nothing is published, serves it, and builds nothing again', async () => {
  const { url, printed, stores } = await shared('sample')
  expect(printed).toContain(`nothing is published in ${stores.url}: building the sample book there`)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect(await servedVersion({ url })).toBe(SAMPLE_VERSION)
  const { data } = catalogue.parse(await (await fetch(`${url}/v1/strategies`)).json())
  expect(data.map(({ id }) => id)).toEqual([
    ...['alder', 'birch', 'cedar', 'hazel', 'larch', 'maple', 'rowan', 'willow'],
  ])
  for (const [, tried] of printed.matchAll(/curl '?(http[^'\s]+)/g)) {
    expect((await fetch(tried!)).status, tried).toBe(200)
  }
  expect(await pointerOf(stores)).toBe(SAMPLE_VERSION)
  expect(await faultsOf(stores)).toEqual([])
  expect(await (await fetch(`${url}/`)).text()).not.toContain('>Program</a>') // no signals service runs beside it

  const published = await contentOf(stores)
  const again = await startServing(stores, ['run', '--history-only'])
  expect(again.printed()).not.toContain('building')
  expect(await servedVersion(again)).toBe(SAMPLE_VERSION)
  again.kill('SIGINT')
  expect(await again.ended).toMatchObject({ code: 0, signal: null })
  expect(await contentOf(stores)).toEqual(published)
})

test('`highwater run` shows weeks of simulated live trading of the sample, in a chain without a fault, and says that they are simulated', async () => {
  const { url, printed, stores } = await shared('sample')
  const store = await openStore(stores.url)
  const read = (key: string) => store.read(key)
  const seals = await readSeals(read)
  const keys = await readOriginKeys(read, seals)
  expect(chainFaults(seals, origin => keys.get(origin) ?? null)).toEqual([])
  expect(gapsOf(seals)).toHaveLength(2)
  const { items, ...opened } = await openSeals(read, seals, '9999-12-31')
  expect(opened).toEqual({ faults: [], lost: [], skipped: [], stamps: [], openedTo: '2026-06-30' })
  const found = items.map(({ item }) => parseItem(item))
  const kinds = found.map(each => (each?.kind === 'signal' ? each.signal.mode : each?.event.event))
  const count = new Map<string, number>()
  for (const kind of kinds) count.set(`${kind}`, (count.get(`${kind}`) ?? 0) + 1)
  expect(Object.fromEntries(count)).toEqual({
    ...{ LIVE: 34, DRY_RUN: 8, live: 3, halt: 1, resume: 1, ended: 1 },
  })
  const live = async (id: string) => {
    const { data, meta } = liveAnswer.parse(await (await fetch(`${url}/v1/strategies/${id}/live`)).json())
    expect(meta.note).toMatch(id === 'birch' ? /no live signal of it/ : /simulated/)
    return Object.values(data.entries)
  }
  // judged, sealed, late, missed, halted, by hand, unmatched
  expect(await live('alder')).toEqual([2, 1, 0, 0, 0, 1, 0])
  expect(await live('cedar')).toEqual([9, 5, 1, 1, 1, 1, 0])
  expect(await live('larch')).toEqual([9, 7, 1, 1, 0, 0, 0])
  expect(await live('birch')).toEqual([0, 0, 0, 0, 0, 0, 0])
  expect(printed).toContain('the live record of the sample is simulated')
  const key = SIMULATED_ORIGIN.split('/')[1]
  expect((await run(['verify-live', url], { now: Date.now })).err).toContain(
    `note: everybody has the key ${key}: these seals are simulated\n`,
  )
  const sheet = `${url}/${versionFolder(SAMPLE_VERSION)}/strategies/cedar/sheet.html`
  expect(await (await fetch(sheet)).text()).toContain('<strong>Simulated</strong>')
})

test('the simulated live weeks have the same bytes at every run, and a service goes on under its own key, from the first number of its log', async () => {
  const { stores } = await shared('sample')
  const published = await openStore(stores.url)
  const own = createMemoryStores()
  await sealSimulatedWeeks(own, await writeSampleBook(await temporaryFolder()))
  const made = await own.store.list(SEALS_PREFIX)
  expect(await published.list(SEALS_PREFIX)).toEqual(made)
  for (const key of made)
    expect(await published.read(key), key).toEqual(Buffer.from(await bytesOf(own.store, key)))

  const signer = createSigner(newPrivateKeyPem())
  const service = { signer, secret: 'secret', nowMs: Date.parse('2026-11-27T21:13:20Z') }
  const newest = (await readNewestSeal(key => own.store.read(key)))!
  await leaveSimulatedWeeks(own, service)
  await leaveSimulatedWeeks(own, { ...service, secret: 'another, and later' })
  const record = (await readDocument(own.privateStore, recordKey(newest.seal.n + 1), sealRecord))!
  expect([record.from, record.to, lastSeqOf(record)]).toEqual([
    '2026-07-01T00:00:00Z',
    '2026-11-27T21:20:00Z',
    0,
  ])
  expect(record.items.map(item => parseItem(item))).toMatchObject([
    {
      event: {
        event: 'begin_anew',
        of: { origin: SIMULATED_ORIGIN, n: newest.seal.n, digest: newest.digest },
      },
    },
    { event: { event: 'key', of: { id: signer.keyId } } },
  ])
  const next = signSeal(sealOf(record, newest.digest), signer)
  expect(sealCheck(signer.publicKeyPem)(next)).toBe(true)
  await own.store.create(sealKey(newest.seal.n + 1), next, { content_type: 'text/plain' })
  await leaveSimulatedWeeks(own, service)
  expect(await own.privateStore.has(recordKey(newest.seal.n + 2))).toBe(false)
})

test('Ctrl-C while `highwater run` builds the sample ends it at once, and nothing is published', async () => {
  const stores = await newStores()
  const running = startHighwater(['run', '--history-only'], { env: environmentOf(stores) })
  await buildBegan(stores)
  running.kill('SIGINT')
  expect(await running.ended).toMatchObject({ signal: 'SIGINT', stdout: '' })
  expect(running.printed()).not.toMatch(/^render: (\d+)\/\1 /m)
  expect(await pointerOf(stores)).toBeNull()
})

test('`highwater run` over a sample that other code began says what to remove', async () => {
  const stores = await newStores()
  const leftover = privateKey(SAMPLE_VERSION, 'snapshot.json')
  const bytes = new TextEncoder().encode('{}')
  await (await openStore(stores.privateUrl)).create(leftover, bytes, { content_type: 'application/json' })
  const { code, out, err } = await run(['run', '--history-only'], {
    env: environmentOf(stores),
    now: Date.now,
  })
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain(`${leftover} exists with other bytes`)
  expect(err).toContain(`remove ${stores.url} and ${stores.privateUrl} (\`make clean\``)
  expect(err).not.toContain('--version')
})

const environmentOf = ({ url, privateUrl }: Stores): Record<string, string> => ({
  STORE_URL: url,
  PRIVATE_STORE_URL: privateUrl,
  HISTORY_PORT: '0',
})
