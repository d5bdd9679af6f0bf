// A version with the name of a past time: what its builder and its readers see.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { manifestKey, privateKey } from '#core/contract/artifacts.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import { openStore } from '#storage/open-store.ts'
import { dailyBars } from '#test/pipeline/night/night-book.ts'
import { contentOf } from '#test/support/stores/stores.ts'
import { lastingFolder } from '#test/support/temporary-folder.ts'
import { CLOSES, openBook } from '../own-book.ts'

const BUILT = '2024-01-15T06:00:00Z'
const PAST = '2024-01-09T00:15:00Z'
const PAST_ARGS = ['--as-of', '2024-01-08', '--version', PAST]
const NEXT = '2024-01-15T07:00:00Z'

/** A book, and commands at a time. */
async function openAt(folder?: string) {
  const { build, onStore, ...book } = await openBook(undefined, folder)
  const at = (now: string) => ({ now: () => Date.parse(now) })
  return {
    ...book,
    at: (now: string, command: string) => onStore([command], at(now)),
    build: (now: string, ...args: readonly string[]) => build(args, at(now)),
  }
}

/** A book in which a version of the past was built, and one of now after it. */
let backDated: Awaited<ReturnType<typeof openAt>>
beforeAll(async () => {
  backDated = await openAt(await lastingFolder())
  expect(await backDated.build(BUILT, ...PAST_ARGS)).toMatchObject({
    code: 0,
    err: `note: ${PAST} is a past time: every page will say that this version was entered on 2024-01-15\n`,
  })
  expect(await backDated.build(NEXT)).toMatchObject({ code: 0, err: '' })
})

test('a build of a past name that is run again has the start of the first, and is refused 36 hours after it', async () => {
  const { stores, store, build } = await openAt()
  const privateStore = await openStore(stores.privateUrl)
  const begin = { entered: '2024-01-14T18:00:01Z' }
  await privateStore.create(privateKey(PAST, 'entered.json'), toJsonBytes(begin), { content_type: 'x' })
  const late = await build('2024-01-16T06:00:02Z', ...PAST_ARGS)
  expect(late.code).toBe(1)
  expect(late.err).toContain(
    `${PAST} says that it is of ${begin.entered}, more than 36 hours before the clock of this machine ` +
      '(2024-01-16T06:00:02Z): nothing was published; build under another --version',
  )
  expect(await build('2024-01-16T06:00:01Z', ...PAST_ARGS)).toMatchObject({ code: 0 })
  const manifest = await store.read(manifestKey(PAST))
  expect(JSON.parse(new TextDecoder().decode(manifest!))).toMatchObject(begin)
  const published = await contentOf(stores)
  expect(await build('2024-01-20T00:00:00Z', ...PAST_ARGS)).toMatchObject({ code: 0, err: '' })
  const again = await contentOf(stores)
  expect(
    Object.keys(again).filter(key => again[key] !== published[key] && !/build\.json$/.test(key)),
  ).toEqual([])
})

test('a name of at most 36 hours before its build is the truth, and one of more than 36 hours ahead is refused', async () => {
  const { build, file } = await openAt()
  const ahead = await build(BUILT, '--version', '2024-01-16T18:00:01Z')
  expect(ahead.code).toBe(1)
  expect(ahead.err).toContain('more than 36 hours ahead of the clock')
  expect(await build(BUILT, '--version', '2024-01-13T18:00:00Z')).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(await file('2024-01-13T18:00:00Z', 'dataset.json')).data.entered).toBeNull()
})

test('a build reproduces a published version from its manifest, whatever the time is, and publishes nothing', async () => {
  const { stores, build, change } = backDated
  const before = await contentOf(stores)
  const manifest = join(fileURLToPath(stores.url), manifestKey(PAST))
  const reproduce = () => build('2024-03-01T00:00:00Z', '--as-of', '2024-01-08', '--reproduce', manifest)
  const equal = await reproduce()
  expect(equal.code).toBe(0)
  expect(equal.out).toMatch(
    /^ok {6}documents .*\nok {6}files {7}\S+ {2}\d+ objects, all as published\nok {6}snapshot .*\n$/,
  )
  await change({ 'bars/BTCUSDT-PERP/1d.csv': dailyBars(CLOSES.with(4, 97.5)) })
  const other = await reproduce()
  expect(other.code).toBe(1)
  expect(other.out).toContain('v1/snapshots/20240109T001500Z/strategies.json is altered')
  expect(other.err).toContain('nothing was published; to get the same files, build with the book')
  expect(await contentOf(stores)).toEqual(before)
})
