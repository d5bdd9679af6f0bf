// Older answers that cannot be had, and more clients than deltas can be made for: nobody is refused for want of a delta.
import { beforeAll, describe, expect, test } from 'vitest'
import { createDictionaryDeltas, MOST_UNDER_WAY } from '#api/history/dictionary-deltas.ts'
import { createPublishedAnswers } from '#api/history/published-answers.ts'
import type { ReadyAnswer } from '#api/history/ready-answer.ts'
import { manifestKey, versionFolder } from '#core/contract/artifacts.ts'
import { NIGHTS, openFourNights, SERVED, versionOfNight } from '../../support/books/growing-book.ts'
import type { MemoryStores } from '../../support/books/publish-in-memory.ts'
import { pointTo } from '../../support/books/small-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { createGate, damage, isArtifact, meddled, outage } from '../../support/stores/store-doubles.ts'
import type { App } from './answers.ts'
import { ask, CSV, codingOf, holding, type Nights, openNights } from './delta-client.ts'

/** Answers that differ every night. */
const DIFFERENT = [
  ...['/v1/export', '/v1/export?period=weekly', CSV],
  ...['alder', 'birch'].flatMap(id =>
    ['returns', 'returns?period=weekly', 'returns?format=csv', 'curve', 'curve?format=csv'].map(
      rest => `/v1/strategies/${id}/${rest}`,
    ),
  ),
]

let stores: MemoryStores
let app: App
let bodyOf: Nights['bodyOf']

beforeAll(async () => {
  ;({ app, bodyOf, stores } = await openNights())
})

describe('an older answer that cannot be had costs nobody the new one', () => {
  const keyOf = (night: number): string => `${versionFolder(versionOfNight(night))}/export.daily.csv`

  const openWith = (meddle: Parameters<typeof meddled>[2], concerns: (key: string) => boolean) =>
    createTestApp(meddled(stores.store, concerns, meddle), stores.privateStore)

  test.each([
    ['missing', () => null],
    ['damaged', (bytes: Uint8Array | null) => bytes && damage(bytes)],
    ['connection refused', (bytes: Uint8Array | null, key: string) => outage(stores.store)(bytes, key)],
  ])('where it is %s: the ordinary one is sent, and the operator is told once', async (what, meddle) => {
    const opened = await openWith(meddle, key => key === keyOf(1))
    for (let i = 0; i < 3; i++) {
      const { response, headers, bytes } = await ask(opened.app, CSV, holding(await bodyOf(1, CSV)))
      expect([response.status, codingOf(headers)]).toEqual([200, 'br'])
      expect(bytes.equals((await ask(app, CSV, { 'accept-encoding': 'br' })).bytes)).toBe(true)
    }
    expect(opened.damages).toEqual([expect.stringContaining(what)])
    expect(opened.damages[0]).toContain(keyOf(1))
    expect(codingOf((await ask(opened.app, CSV, holding(await bodyOf(0, CSV)))).headers)).toBe('dcz')
  })

  test('where its version was removed: nobody is told, and older ones still serve', async () => {
    const gone = `${versionFolder(versionOfNight(1))}/`
    const opened = await openWith(
      () => null,
      key => key.startsWith(gone),
    )
    expect(codingOf((await ask(opened.app, CSV, holding(await bodyOf(1, CSV)))).headers)).toBe('br')
    expect(codingOf((await ask(opened.app, CSV, holding(await bodyOf(0, CSV)))).headers)).toBe('dcz')
    expect(opened.damages).toEqual([])
  })

  test.each([
    ['altered', (bytes: Uint8Array | null) => bytes && damage(bytes), 'is not the one that was published'],
    ['unreachable', (bytes: Uint8Array | null, key: string) => outage(stores.store)(bytes, key), 'refused'],
  ])('where the manifest of its version is %s: the operator is told once', async (_what, meddle, told) => {
    const opened = await openWith(meddle, key => key === manifestKey(versionOfNight(1)))
    for (let i = 0; i < 3; i++) {
      expect(codingOf((await ask(opened.app, CSV, holding(await bodyOf(1, CSV)))).headers)).toBe('br')
    }
    expect(opened.damages).toEqual([expect.stringContaining(told)])
  })

  test('where it was lost, it is tried again after the next publication', async () => {
    const own = await openFourNights()
    let isLost = true
    const store = meddled(
      own.store,
      key => key === keyOf(0),
      bytes => (isLost ? null : bytes),
    )
    const opened = await createTestApp(store, own.privateStore)
    const asking = holding(await bodyOf(0, CSV))
    expect(codingOf((await ask(opened.app, CSV, asking)).headers)).toBe('br')
    isLost = false
    expect(codingOf((await ask(opened.app, CSV, asking)).headers)).toBe('br')
    await pointTo(own, versionOfNight(SERVED))
    await opened.source.refresh()
    expect(codingOf((await ask(opened.app, CSV, asking)).headers)).toBe('dcz')
  })
})

test('equal questions at the same time read the older answer once', async () => {
  const reads: string[] = []
  const counted = meddled(
    stores.store,
    () => true,
    (bytes, key) => {
      reads.push(key)
      return bytes
    },
  )
  const opened = await createTestApp(counted, stores.privateStore)
  const asking = holding(await bodyOf(1, CSV))
  reads.length = 0
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(opened.app, CSV, asking)))
  expect(new Set(answers.map(({ bytes }) => bytes.toString('hex'))).size).toBe(1)
  await ask(opened.app, CSV, asking)
  const folder = versionFolder(versionOfNight(1))
  expect(reads.filter(key => key.startsWith(folder)).length).toBe(2) // its manifest, and the answer
})

test('a delta that is no smaller than the ordinary answer is not sent', async () => {
  const { source } = await createTestApp(stores.store, stores.privateStore)
  const fail = (message: string): never => expect.unreachable(message)
  const published = createPublishedAnswers(stores.store, fail)
  const deltas = createDictionaryDeltas(stores.store, published, source.history, fail)
  const artifact = source.current()!.artifacts.get(CSV)!
  const ordinary = (await published.read(artifact, 'br'))!
  const asking = holding(await bodyOf(1, CSV))
  const better = (one: ReadyAnswer) =>
    deltas.better(versionOfNight(SERVED), artifact, one, {
      acceptEncoding: asking['accept-encoding'],
      availableDictionary: asking['available-dictionary'],
      ifNoneMatch: undefined,
    })
  const delta = await better(ordinary)
  expect(delta.headers['content-encoding']).toBe('dcz')
  const ofSize = (size: number): ReadyAnswer => ({ ...ordinary, bytes: ordinary.bytes.subarray(0, size) })
  const asSmall = ofSize(delta.bytes.length)
  expect(await better(asSmall)).toBe(asSmall)
  expect(await better(ofSize(delta.bytes.length + 1))).toBe(delta)
})

test('who does not fit into the line gets the ordinary answer at once, and everyone in it a delta', async () => {
  const others = NIGHTS.filter(night => night !== SERVED)
  const pairs = DIFFERENT.flatMap(address => others.map(night => ({ address, night })))
  const askings = await Promise.all(
    pairs.map(async ({ address, night }) => ({ address, asking: holding(await bodyOf(night, address)) })),
  )
  const gate = createGate()
  const folders = others.map(night => versionFolder(versionOfNight(night)))
  const held = meddled(
    stores.store,
    key => isArtifact(key) && folders.some(folder => key.startsWith(folder)),
    async bytes => {
      await gate.pass()
      return bytes
    },
  )
  const opened = await createTestApp(held, stores.privateStore)
  const codings: string[] = []
  const asked = askings.map(async ({ address, asking }) => {
    const { response, headers } = await ask(opened.app, address, asking)
    codings.push(`${response.status} ${codingOf(headers)}`)
  })
  await expect.poll(() => codings.length).toBe(pairs.length - MOST_UNDER_WAY)
  expect(new Set(codings)).toEqual(new Set(['200 br']))
  gate.open()
  await Promise.all(asked)
  expect(codings.filter(coding => coding === '200 dcz').length).toBe(MOST_UNDER_WAY)
})
