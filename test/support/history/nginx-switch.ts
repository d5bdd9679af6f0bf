// nginx in front of a tier while the pointer moves between two versions: a few times in the suite, for minutes in `make soak`. Its
// clients check every answer against the version that its own headers name.
import { setTimeout as after } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import { TWIN_ENDINGS, type TwinCoding } from '#core/contract/artifacts.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { parseCompactInstant, pinnedPath, unpinnedPath } from '#core/contract/pins.ts'
import { rollBack } from '#static-build/move-pointer.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { fileEtag } from '#storage/placing.ts'
import type { Layer } from '../../../deploy/layers.ts'
import { run } from '../../cli/made-up.ts'
import { type Stores, TINY_VERSION } from '../books/publish-book.ts'
import { fileGround } from '../kills/grounds.ts'
import { addressOf, ask, type Got, siteOf, startFiles } from '../servers/cdn.ts'
import { manifestOf } from '../stores/stored-bytes.ts'
import { buildArgs, NEXT_VERSION, pointerOf, storeArgs } from '../stores/stores.ts'
import { startServing } from './history-process.ts'

export const VERSIONS = [TINY_VERSION, NEXT_VERSION] as const

const READERS = 6

/** Between two requests of a reader, so that what moves the pointer has the machine as well. */
const PAUSE_MS = 4

/** One move in so many is a rollback that is killed. */
const KILLED_EVERY = 6

/** nginx follows within a second, and the tier repairs within five, on a machine that does nothing else. */
export const PATIENT = { timeout: 60_000, interval: 50 }

export const latestOf = async ({ url }: Layer) => (await ask(`${url}/v1/dataset`)).headers['cache-tag']
export const tagOf = (version: string): string => `v-${toCompactInstant(version)}`

/** Rolls back in a process that is killed at the line that switches nginx: the entry stands, and nginx has not followed. */
export async function rollBackHalf(stores: Stores, version: string): Promise<void> {
  const { runUntil } = await fileGround('') // without a key
  const kill = { at: { path: '/nginx/served[.]conf$' }, isDone: false }
  const exit = await runUntil(['rollback', version, ...storeArgs(stores)], kill)
  expect([exit.signal, await pointerOf(stores)]).toEqual(['SIGKILL', version])
}

type Moving = (isOver: () => boolean) => Promise<void>

/** Starts a tier, which runs no longer than `hungMs`, and nginx on stores with the first version, and builds the second. */
export async function openSwitchGround(stores: Stores, hungMs?: number) {
  const store = await openStore(stores.url)
  const tier = await startServing(stores, undefined, hungMs === undefined ? {} : { hungMs })
  const files = await startFiles(await siteOf(addressOf(tier.url), { store: fileURLToPath(stores.url) }))
  expect(await latestOf(files)).toBe(tagOf(TINY_VERSION))
  expect(await run(buildArgs(stores), { now: () => Date.now() })).toMatchObject({ code: 0 })
  await expect.poll(() => latestOf(files), PATIENT).toBe(tagOf(NEXT_VERSION))
  return {
    /** Moves the pointer to the other version, `i` times before this; resolves when nginx serves that version. */
    async move(i: number): Promise<void> {
      const version = VERSIONS[i % 2]!
      if (i % KILLED_EVERY === KILLED_EVERY - 1) await rollBackHalf(stores, version)
      else await rollBack(store, version, { nowMs: Date.now(), signer: null })
      await expect.poll(() => latestOf(files), PATIENT).toBe(tagOf(version))
    },
    /** Runs moves while nginx is read, or until an answer is wrong. Returns how many answers there were of each version. */
    whileReading: (run: Moving) => whileReadingNginx(files.url, store, run),
  }
}

type Artifacts = ReadonlyMap<string, Artifact>

const CODINGS = ['identity', 'br', 'gzip'] as const

/**
 * Runs something while readers request canonical addresses from nginx, which serves this store. Returns how many answers
 * there were of each version; throws at the first answer that is not of one version.
 */
async function whileReadingNginx(url: string, store: ObjectStore, run: Moving) {
  const published = new Map<string, Artifacts>()
  for (const version of VERSIONS) {
    const { artifacts } = await manifestOf(store, version)
    published.set(version, new Map(artifacts.map(artifact => [artifact.url, artifact])))
  }
  const addresses = [...published.get(TINY_VERSION)!.keys()]
  const seen = new Map<string, number>()
  let isOver = false
  const read = async (i: number): Promise<void> => {
    const address = addresses[i % addresses.length]!
    const coding = CODINGS[i % CODINGS.length]!
    const isFile = /\.(html|js|css|svg|png)$/.test(address) // its own address leads to the version
    const asked = i % 4 === 0 || isFile ? pinnedPath(VERSIONS[i % 2]!, address) : address
    const version = check(asked, coding, await ask(url + asked, { 'accept-encoding': coding }), published)
    if (asked === address) seen.set(version, (seen.get(version) ?? 0) + 1)
  }
  const reading = Promise.all(
    Array.from({ length: READERS }, async (_, reader) => {
      for (let i = reader; !isOver; i += READERS) {
        await read(i)
        await after(PAUSE_MS)
      }
    }),
  )
  const end = (): void => {
    isOver = true
  }
  const [moved, wasRead] = await Promise.allSettled([run(() => isOver).finally(end), reading.finally(end)])
  for (const one of [wasRead, moved]) if (one.status === 'rejected') throw one.reason
  return seen
}

/** The version that the headers of an answer name; throws if anything in it belongs to another one. */
function check(
  asked: string,
  coding: (typeof CODINGS)[number],
  { status, headers, bytes }: Got,
  published: ReadonlyMap<string, Artifacts>,
): string {
  const twin = unpinnedPath(asked) === null ? String(headers['content-location']) : asked
  const version = parseCompactInstant(twin.split('/')[3] ?? '') ?? ''
  const artifact = published.get(version)?.get(unpinnedPath(twin) ?? '')
  const isPinned = twin === asked
  const problems = [
    ...(status === 200 ? [] : [`status ${status}`]),
    ...(artifact === undefined ? [`no file for ${twin}`] : differences(artifact, coding, { headers, bytes })),
    ...(isPinned || headers['cache-tag'] === `v-${toCompactInstant(version)}` ? [] : ['tag']),
    ...((headers['x-dataset-version'] ?? version) === version ? [] : ['X-Dataset-Version']),
  ]
  if (problems.length > 0) throw new Error(`${asked} as ${coding} of ${twin}: ${problems.join(', ')}`)
  return version
}

function differences(
  artifact: Artifact,
  coding: TwinCoding | 'identity',
  { headers, bytes }: Pick<Got, 'headers' | 'bytes'>,
): string[] {
  const twin = coding === 'identity' ? undefined : artifact.encodings[coding]
  const key = twin === undefined || coding === 'identity' ? artifact.key : artifact.key + TWIN_ENDINGS[coding]
  const { bytes: length, sha256: digest } = twin ?? artifact
  return [
    ...(sha256(bytes) === digest ? [] : ['body']),
    ...(headers.etag === fileEtag(key, length) ? [] : ['ETag']),
    ...(headers['content-length'] === String(length) ? [] : ['Content-Length']),
    ...(headers['content-encoding'] === (twin === undefined ? undefined : coding) ? [] : ['coding']),
  ]
}
