import { cp } from 'node:fs/promises'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { waitingBook } from '../support/books/waiting-book.ts'
import { highwater, startHighwater } from '../support/history/highwater-process.ts'
import {
  buildArgs,
  buildBegan,
  copyStores,
  faultsOf,
  NEXT_VERSION,
  pointerOf,
} from '../support/stores/stores.ts'

const RACERS = 3

test('of builds that run at the same time one publishes, and the others name the process that holds the lock', async () => {
  const stores = await copyStores(inject('tinyStore'))
  const { book, letGo } = await waitingBook()
  // Each has a private store of its own, with the version before: what must not be shared is the pointer.
  const folder = fileURLToPath(stores.privateUrl)
  for (let i = 1; i < RACERS; i++) await cp(folder, `${folder}${i}`, { recursive: true })
  const builds = Array.from({ length: RACERS }, (_, i) =>
    startHighwater(buildArgs({ ...stores, privateUrl: `${stores.privateUrl}${i || ''}` }, { book })),
  )
  let waiting = RACERS
  const exits = await Promise.all(
    builds.map(async ({ pid, ended }) => {
      const exit = await ended
      waiting--
      if (waiting === 1) await letGo()
      return { pid, ...exit }
    }),
  )
  const [winner, ...more] = exits.filter(({ code }) => code === 0)
  expect(more).toEqual([])
  const losers = exits.filter(exit => exit !== winner)
  for (const { code, stdout, stderr } of losers) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(
      `another build of ${stores.url} is running: process ${winner?.pid} on ${hostname()} since 2`,
    )
  }
  expect(await pointerOf(stores)).toBe(NEXT_VERSION)
  const winning = exits.findIndex(({ code }) => code === 0)
  const privateUrl = `${stores.privateUrl}${winning || ''}`
  expect(await faultsOf({ ...stores, privateUrl })).toEqual([])
})

test('a build that was killed does not block the next one', async () => {
  const stores = await copyStores(inject('tinyStore'))
  const killed = startHighwater(buildArgs(stores))
  await buildBegan(stores)
  killed.kill('SIGKILL')
  expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
  expect(await highwater(buildArgs(stores))).toMatchObject({ code: 0 })
  expect(await pointerOf(stores)).toBe(NEXT_VERSION)
})
