import { expect, test } from 'vitest'
import { z } from 'zod'
import { SAMPLE_VERSION } from '#pipeline/sample/write-sample-book.ts'
import { servedVersion, startServing } from '../setup/history-process.ts'
import { contentOf, faultsOf, newStores, pointerOf } from '../setup/stores.ts'

const catalogue = z.object({ data: z.array(z.object({ id: z.string(), verification_state: z.string() })) })

test('`highwater run` builds the sample where nothing is published, serves it, and builds nothing again', async () => {
  const stores = await newStores()
  const first = await startServing(stores, ['run'])
  expect(first.printed()).toContain(`nothing is published in ${stores.url}: building the sample book there`)
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
  expect(await servedVersion(first)).toBe(SAMPLE_VERSION)
  const { data } = catalogue.parse(await (await fetch(`${first.url}/v1/strategies`)).json())
  expect(data.map(({ id }) => id)).toEqual([
    ...['alder', 'birch', 'cedar', 'hazel', 'larch', 'maple', 'rowan', 'willow'],
  ])
  for (const [, tried] of first.printed().matchAll(/curl '?(http[^'\s]+)/g)) {
    expect((await fetch(tried!)).status, tried).toBe(200)
  }
  expect(await pointerOf(stores)).toBe(SAMPLE_VERSION)
  expect(await faultsOf(stores)).toEqual([])
  first.kill('SIGINT')
  expect(await first.ended).toMatchObject({ code: 0, signal: null })

  const published = await contentOf(stores)
  const second = await startServing(stores, ['run'])
  expect(second.printed()).not.toContain('building')
  expect(await servedVersion(second)).toBe(SAMPLE_VERSION)
  second.kill('SIGTERM')
  expect(await second.ended).toMatchObject({ code: 0, signal: null })
  expect(await contentOf(stores)).toEqual(published)
})
