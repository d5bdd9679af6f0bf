import { appendFile, cp, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { highwater, startHighwater } from '../setup/highwater-process.ts'
import { TINY_BOOK, TINY_VERSION } from '../setup/publish-book.ts'
import { buildArgs, copyStores, faultsOf, lastingFolder, NEXT_VERSION, pointerOf } from '../setup/stores.ts'

const RACERS = 3

test('of builds that run at the same time one publishes, and the others say who runs', async () => {
  const stores = await copyStores(inject('tinyStore'))
  const { book, letGo } = await waitingBook()
  // Each has a private store of its own: what must not be shared is the pointer.
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
  const faults = await faultsOf({ ...stores, privateUrl })
  expect(faults.filter(fault => !fault.startsWith(TINY_VERSION))).toEqual([]) // whose snapshot lies in the first one
})

test('a build that was killed does not keep the next one waiting', async () => {
  const stores = await copyStores(inject('tinyStore'))
  const killed = startHighwater(buildArgs(stores))
  await killed.prints(/compute/) // the lock is taken before anything is computed
  killed.kill('SIGKILL')
  expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
  expect(await highwater(buildArgs(stores))).toMatchObject({ code: 0 })
  expect(await pointerOf(stores)).toBe(NEXT_VERSION)
})

/** The tiny book with a module that waits to be let go, so that a build lasts as long as a test needs it to. */
async function waitingBook() {
  const book = join(await lastingFolder(), 'book')
  await cp(TINY_BOOK, book, { recursive: true })
  await appendFile(
    join(book, 'strategies/ash.ts'),
    `import { existsSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'
while (!existsSync(new URL('../go', import.meta.url))) await after(20)
`,
  )
  return { book, letGo: () => writeFile(join(book, 'go'), '') }
}
