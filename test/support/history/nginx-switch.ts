// nginx in front of a tier while the pointer moves between two versions: a few times in the suite, for minutes in `make soak`.
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import { rollBack } from '#static-build/move-pointer.ts'
import { openStore } from '#storage/open-store.ts'
import type { Layer } from '../../../deploy/layers.ts'
import { type Stores, TINY_VERSION } from '../books/publish-book.ts'
import { fileGround } from '../kills/grounds.ts'
import { addressOf, ask, siteOf, startFiles } from '../servers/cdn.ts'
import { buildArgs, NEXT_VERSION, pointerOf } from '../stores/stores.ts'
import { highwater } from './highwater-process.ts'
import { startServing } from './history-process.ts'
import { whileReadingNginx } from './nginx-readers.ts'

export const VERSIONS = [TINY_VERSION, NEXT_VERSION] as const

const READERS = 6

/** One move in so many is a rollback that is killed. */
const KILLED_EVERY = 6

/** nginx follows within a second, and the tier repairs within five, on a machine that does nothing else. */
export const PATIENT = { timeout: 60_000, interval: 50 }

export const latestOf = async ({ url }: Layer) => (await ask(`${url}/v1/dataset`)).headers['cache-tag']
export const tagOf = (version: string): string => `v-${toCompactInstant(version)}`
export const storeArgs = ({ url, privateUrl }: Stores) => ['--store', url, '--private-store', privateUrl]

/** Rolls back in a process that is killed at the line that switches nginx: the entry stands, and nginx has not followed. */
export async function rollBackHalf(stores: Stores, version: string): Promise<void> {
  const { runUntil } = await fileGround('') // without a key
  const kill = { at: { path: '/nginx/served[.]conf$' }, isDone: false }
  const exit = await runUntil(['rollback', version, ...storeArgs(stores)], kill)
  expect([exit.signal, await pointerOf(stores)]).toEqual(['SIGKILL', version])
}

export type SwitchGround = {
  /** Moves the pointer to the other version, `i` times before this; resolves when nginx serves that version. */
  readonly move: (i: number) => Promise<void>
  /** Runs moves while nginx is read. Returns how many answers there were of each version. */
  readonly whileReading: (run: () => Promise<void>) => Promise<ReadonlyMap<string, number>>
}

/** Starts a tier, which runs no longer than `hungMs`, and nginx on stores with the first version, and builds the second. */
export async function openSwitchGround(stores: Stores, hungMs?: number): Promise<SwitchGround> {
  const store = await openStore(stores.url)
  const tier = await startServing(stores, undefined, hungMs === undefined ? {} : { hungMs })
  const files = await startFiles(await siteOf(addressOf(tier.url), { store: fileURLToPath(stores.url) }))
  expect(await latestOf(files)).toBe(tagOf(TINY_VERSION))
  expect(await highwater(buildArgs(stores))).toMatchObject({ code: 0 })
  await expect.poll(() => latestOf(files), PATIENT).toBe(tagOf(NEXT_VERSION))
  return {
    async move(i) {
      const version = VERSIONS[i % 2]!
      if (i % KILLED_EVERY === KILLED_EVERY - 1) await rollBackHalf(stores, version)
      else await rollBack(store, version, { nowMs: Date.now(), signer: null })
      await expect.poll(() => latestOf(files), PATIENT).toBe(tagOf(version))
    },
    whileReading: run => whileReadingNginx({ url: files.url, store, versions: VERSIONS }, READERS, run),
  }
}
