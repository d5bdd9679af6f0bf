import { expect, test } from 'vitest'
import { z } from 'zod'
import { privateKey } from '#core/contract/artifacts.ts'
import { SAMPLE_VERSION } from '#pipeline/sample/write-sample-book.ts'
import { openStore } from '#storage/open-store.ts'
import { run } from '../cli/made-up.ts'
import type { Stores } from '../support/books/publish-book.ts'
import { startHighwater } from '../support/history/highwater-process.ts'
import { servedVersion, startServing } from '../support/history/history-process.ts'
import { shared } from '../support/runner/shared.ts'
import { buildBegan, contentOf, faultsOf, newStores, pointerOf } from '../support/stores/stores.ts'

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
