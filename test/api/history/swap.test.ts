// A new version takes the place of the old one between two requests, never within one.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { POINTER_PREFIX } from '#core/contract/pointer.ts'
import { forAllInTurn } from '#test/support/for-all.ts'
import { FIRST_VERSION, openBothVersions, pointTo, SECOND_VERSION } from '../../support/books/small-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { createGate, isArtifact, meddled } from '../../support/stores/store-doubles.ts'
import { type App, getEnvelope, headersOf, openServing } from './answers.ts'
import { DATA_ROUTES, LEGAL, namesOf } from './paths.ts'
import { ERROR_ENVELOPE } from './specification.ts'

/** Addresses of files and of computed answers, JSON and CSV. */
const ADDRESSES = DATA_ROUTES.flatMap(route => {
  const path = route.path.replace('{sid}', 'alder')
  const queries = namesOf(route)
    .filter(name => name !== 'ids')
    .map(name => `?${name}=${LEGAL[name]}`)
  return [path, ...queries.map(query => path + query)]
})

const ask = async (app: App, address: string) => {
  const response = await app.request(address)
  return { status: response.status, headers: headersOf(response), body: await response.text() }
}

type Answer = Awaited<ReturnType<typeof ask>>

async function answersOf(app: App): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>()
  for (const address of ADDRESSES) answers.set(address, await ask(app, address))
  return answers
}

/** What each version answers when it is the only one that was ever served. */
const EXPECTED = {
  [FIRST_VERSION]: await answersOf((await openServing(FIRST_VERSION)).app),
  [SECOND_VERSION]: await answersOf((await openServing(SECOND_VERSION)).app),
}

test('a refresh follows the pointer on and back, says from what to what, and is idle if nothing changed', async () => {
  const { app, source, ...stores } = await openServing(FIRST_VERSION)
  expect(await source.refresh()).toEqual({ kind: 'unchanged' })
  expect(await answersOf(app)).toEqual(EXPECTED[FIRST_VERSION])
  await pointTo(stores, SECOND_VERSION)
  expect(await answersOf(app)).toEqual(EXPECTED[FIRST_VERSION])
  expect(await source.refresh()).toEqual({ kind: 'swapped', from: FIRST_VERSION, to: SECOND_VERSION })
  expect(await answersOf(app)).toEqual(EXPECTED[SECOND_VERSION])
  expect(await source.refresh()).toEqual({ kind: 'unchanged' })
  await pointTo(stores, FIRST_VERSION)
  expect(await source.refresh()).toEqual({ kind: 'swapped', from: SECOND_VERSION, to: FIRST_VERSION })
  expect(await answersOf(app)).toEqual(EXPECTED[FIRST_VERSION]) // as if it had never been left
})

test('a refresh fills a service that began with nothing', async () => {
  const stores = await openBothVersions()
  let isPublished = false
  const isEntry = (key: string) => key.startsWith(POINTER_PREFIX)
  const late = meddled(stores.store, isEntry, bytes => (isPublished ? bytes : null))
  const { app, source } = await createTestApp(late, stores.privateStore)
  expect((await app.request('/readyz')).status).toBe(503)
  isPublished = true
  expect(await source.refresh()).toEqual({ kind: 'swapped', from: null, to: FIRST_VERSION })
  expect((await app.request('/readyz')).status).toBe(200)
})

test('a refresh that is asked for while one runs is that one: a slow store is not asked twice', async () => {
  const stores = await openBothVersions()
  const gate = createGate()
  let isSlow = false
  const slow = meddled(
    stores.store,
    key => isSlow && key.startsWith(POINTER_PREFIX),
    async bytes => {
      await gate.pass()
      return bytes
    },
  )
  const { app, source } = await createTestApp(slow, stores.privateStore)
  isSlow = true
  await pointTo(stores, SECOND_VERSION)
  const both = [source.refresh(), source.refresh()]
  await gate.reached
  expect((await app.request('/v1/summary')).status).toBe(200) // the old version serves meanwhile
  gate.open()
  const [one, other] = await Promise.all(both)
  expect(one).toBe(other)
  expect(one).toEqual({ kind: 'swapped', from: FIRST_VERSION, to: SECOND_VERSION })
})

test('/version, /healthz, /readyz and / have the new version at once, and an old validator no longer matches', async () => {
  const { app, source, ...stores } = await openServing(FIRST_VERSION)
  const etag = (await app.request('/version')).headers.get('etag') ?? ''
  expect((await app.request('/version', { headers: { 'if-none-match': etag } })).status).toBe(304)
  await pointTo(stores, SECOND_VERSION)
  await source.refresh()
  expect((await app.request('/version', { headers: { 'if-none-match': etag } })).status).toBe(200)
  for (const path of ['/version', '/healthz', '/readyz', '/']) {
    expect((await getEnvelope(app, path)).meta.dataset_version, path).toBe(SECOND_VERSION)
  }
})

/** An app on the first version whose files come only through a gate, and what it takes to swap it. */
async function openGated(answer: (bytes: Uint8Array | null) => Uint8Array | null) {
  const stores = await openBothVersions()
  const gate = createGate()
  const slow = meddled(stores.store, isArtifact, async bytes => {
    await gate.pass()
    return answer(bytes)
  })
  const { app, source } = await createTestApp(slow, stores.privateStore)
  const swap = async () => {
    await pointTo(stores, SECOND_VERSION)
    return source.refresh()
  }
  return { app, gate, swap }
}

/** The version that an answer names, and its body. */
async function ofAnswer(app: App) {
  const { headers, body } = await ask(app, '/v1/export')
  return [headers['content-location'], body] as const
}

const FAULT = () => {
  throw new Error('a fault of ours')
}

test.each([
  ['ends on it if its file comes late', (bytes: Uint8Array | null) => bytes, null],
  ['ends on it if its file is lost and the answer is computed', () => null, null],
  ['names it if it fails', FAULT, FIRST_VERSION],
])('a request that began on the old version %s', async (_, answer, failed) => {
  const { app, gate, swap } = await openGated(answer)
  const begun = ofAnswer(app)
  await gate.reached
  expect((await swap()).kind).toBe('swapped')
  gate.open()
  const ended = await begun
  if (failed !== null)
    return expect(ERROR_ENVELOPE.parse(JSON.parse(ended[1])).meta.dataset_version).toBe(failed)
  for (const [version, seen] of [
    [FIRST_VERSION, ended],
    [SECOND_VERSION, await ofAnswer(app)],
  ] as const) {
    const { headers, body } = EXPECTED[version].get('/v1/export')!
    expect(seen).toEqual([headers['content-location'], body])
  }
})

test('answers of two versions never mix, however requests and swaps fall together', async () => {
  const { app, source, ...stores } = await openServing(FIRST_VERSION)
  const versions = [FIRST_VERSION, SECOND_VERSION] as const
  let pointing = Promise.resolve() // of two publishers at the same time one would lose, which is not the point here
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('ask'), address: fc.constantFrom(...ADDRESSES) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('swap'), version: fc.constantFrom(...versions) }) },
  )
  const isOfOneVersion = (address: string, answer: Answer) =>
    versions.some(version => JSON.stringify(EXPECTED[version].get(address)) === JSON.stringify(answer))
  await forAllInTurn(
    30,
    fc.array(step, { minLength: 1, maxLength: 30 }),
    fc.scheduler(),
    async (steps, scheduler) => {
      const running = steps.map(async one => {
        await scheduler.schedule(Promise.resolve())
        if ('version' in one) {
          pointing = pointing.then(() => pointTo(stores, one.version))
          await pointing
          await source.refresh()
        } else {
          const answer = await ask(app, one.address)
          expect(isOfOneVersion(one.address, answer), one.address).toBe(true)
        }
      })
      await scheduler.waitAll()
      await Promise.all(running)
    },
  )
})
