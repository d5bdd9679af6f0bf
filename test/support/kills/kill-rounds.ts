// Rounds of builds and of other commands that publish, killed at one of their operations: which kills, and what must hold.
import { join } from 'node:path'
import { describeCode } from '#cli/build/describe-code.ts'
import { toCompactInstant } from '#core/calendar.ts'
import { manifestKey, manifestSignatureKey } from '#core/contract/artifacts.ts'
import { KEYS_KEY, publicKeys } from '#core/contract/file-routes.ts'
import { pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { type LoggedEntry, readHead, readLog } from '#storage/pointer-log.ts'
import { isSignedBy } from '#storage/signature.ts'
import { type Stores, TINY_VERSION } from '../books/publish-book.ts'
import type { Exit } from '../processes.ts'
import {
  buildArgs,
  contentOf,
  faultsOf,
  NEXT_VERSION,
  pointerOf,
  versionContentOf,
} from '../stores/stores.ts'
import type { Ground } from './grounds.ts'
import type { Kill } from './kill-at.ts'
import { playRound, type Round, type Strike } from './play-round.ts'

export type Content = Readonly<Record<string, string>>

/** A build that nothing happened to: what every other one must come to. */
export type Model = {
  readonly stores: Stores
  readonly operations: number
  readonly content: Content
  /** The code that built it: a commit or an installation meanwhile is another one, with other bytes. */
  readonly code: string
}

const NEXT_FOLDER = toCompactInstant(NEXT_VERSION)

/** What is written last: around these the version becomes the served one. */
const LAST_PATHS = [
  ...['changes', 'datapackage', 'manifest'].map(name => `/${NEXT_FOLDER}/${name}[.]json$`),
  ...[`/${NEXT_FOLDER}/SHA256SUMS$`, `/${NEXT_FOLDER}/manifest[.]json[.]sig$`],
  ...['/v1/pointer/signatures/', '/v1/pointer/0000000002[.]json$', '/v1/current[.]json$', '/build[.]json$'],
]

const ROOT = join(import.meta.dirname, '../../..')

const codeNow = async (): Promise<string> => JSON.stringify(await describeCode(ROOT))

export async function modelOf(ground: Ground): Promise<Model> {
  const stores = await ground.open()
  const { exit, operations } = await ground.count(buildArgs(stores, ground))
  assertDone(exit)
  return { stores, operations, content: await versionContentOf(stores), code: await codeNow() }
}

/** By steps of this share of the whole, any number of successive seeds is spread evenly over it. */
const EVENLY = (Math.sqrt(5) - 1) / 2

/** The kills of a seed: two on the way and one around the pointer. */
export function killsOf(seed: number, { operations }: Pick<Model, 'operations'>): readonly Kill[] {
  const { uniform } = createRandom(seed)
  const isDone = () => uniform() < 0.5
  const first = (seed * EVENLY) % 1
  const second = (1 - first) * uniform() // of what the first left to do
  const path = LAST_PATHS[seed % LAST_PATHS.length]!
  return [
    { at: { nth: Math.floor(first * operations) }, isDone: isDone() },
    { at: { nth: Math.floor(second * operations) }, isDone: isDone() },
    { at: { path }, isDone: isDone() },
  ]
}

/** Throws unless a command did its work. */
export function assertDone({ code, signal, stderr }: Exit, wasDone?: RegExp): void {
  if (code === 0 || (code === 1 && wasDone?.test(stderr))) return
  throw new Error(`it ended with ${code ?? signal}: ${stderr}`)
}

/** Runs a command until a kill; one that never gets there must do its work, or say that it was done. */
export const strikeOf = (ground: Ground, args: readonly string[], kill: Kill, wasDone?: RegExp): Strike => ({
  name: `${args[0]} ${describeKill(kill)}`,
  async hit() {
    const exit = await ground.runUntil(args, kill)
    if (exit.signal !== 'SIGKILL') assertDone(exit, wasDone)
    return exit.signal === 'SIGKILL'
  },
})

const describeKill = ({ at, isDone }: Kill): string =>
  `killed ${isDone ? 'after' : 'before'} ${'nth' in at ? `operation ${at.nth}` : at.path}`

/** Builds that are killed one after the other, and the same command that finishes with the bytes of the model. */
export function buildRound(ground: Ground, stores: Stores, kills: readonly Kill[], model: Model): Round {
  const args = buildArgs(stores, ground)
  return {
    strikes: kills.map(kill => [strikeOf(ground, args, kill)]),
    finish: async () => assertDone(await ground.start(args).ended),
    async violations(isFinished) {
      const content = await contentOf(stores)
      const found = await violationsIn(stores, { content })
      if (isFinished)
        found.push(...(await notServed(stores, NEXT_VERSION)), ...othersThan(model, stores, content))
      return found
    },
  }
}

/** Plays a round on stores that are compared with a model, which holds as long as nobody changes the code. */
export const playOnModel = (round: Round, model: Model): Promise<number> =>
  playRound(round).catch(async (cause: Error) => {
    if ((await codeNow()) === model.code) throw cause
    throw new Error(`the code was changed while it built, which proves nothing: ${cause.message}`, { cause })
  })

export const notServed = async (stores: Stores, version: string): Promise<string[]> =>
  (await pointerOf(stores)) === version ? [] : [`${version} is not served`]

function othersThan({ content }: Model, { url }: Stores, all: Content): string[] {
  const versions = Object.entries(all).filter(([key]) => key.startsWith(`${url}/v1/snapshots/`))
  const found: Content = Object.fromEntries(versions.map(([key, each]) => [key.slice(url.length + 1), each]))
  const keys = new Set([...Object.keys(found), ...Object.keys(content)])
  return [...keys].filter(key => found[key] !== content[key]).map(key => `${key} has other bytes`)
}

/** The first entry is that of the tests' own first version, which is published without a key. */
const UNSIGNED = 1

/**
 * Every violation, empty where there is none: another version than the two is served, a gap in the log or a broken chain, times
 * that go backwards, an entry without its signature, a version that the log names and that is not whole, a head that the hint
 * leads past. Where `mayBeGone` an older version may have been removed, manifest first. Their content may be given.
 */
export async function violationsIn(
  stores: Stores,
  { mayBeGone = false, content }: { readonly mayBeGone?: boolean; readonly content?: Content } = {},
): Promise<string[]> {
  const served = await pointerOf(stores)
  const store = await openStore(stores.url, stores.s3)
  const log = await readLog(store)
  const head = await readHead(store)
  const newest = log.at(-1)
  return [
    ...(served === TINY_VERSION || served === NEXT_VERSION ? [] : [`${served} is served`]),
    ...(await faultsOf(stores, content)),
    ...(head?.sha256 === newest?.sha256 ? [] : [`the hint leads to ${head?.entry.seq}, not ${log.length}`]),
    ...log.flatMap(({ entry }, i) =>
      entry.at < (log[i - 1]?.entry.at ?? '') ? [`entry ${entry.seq} is older than the one before`] : [],
    ),
    ...(await Promise.all(log.map(each => unsignedIn(store, each)))).flat(),
    ...(await Promise.all(log.map(each => lostIn(store, each, mayBeGone && each !== newest)))).flat(),
  ]
}

async function lostIn(store: ObjectStore, { entry }: LoggedEntry, mayBeGone: boolean): Promise<string[]> {
  const bytes = await store.read(manifestKey(entry.version))
  if (bytes === null)
    return mayBeGone ? [] : [`entry ${entry.seq} names ${entry.version}, which has no manifest`]
  return sha256(bytes) === entry.manifest_sha256 ? [] : [`entry ${entry.seq} names another manifest`]
}

async function unsignedIn(store: ObjectStore, { entry, sha256: digest }: LoggedEntry): Promise<string[]> {
  if (entry.seq <= UNSIGNED) return []
  const signed: [string, string][] = [[pointerKey(entry.seq), signatureKey(digest)]]
  if (entry.action === 'publish')
    signed.push([manifestKey(entry.version), manifestSignatureKey(entry.version)])
  const faults = signed.map(async ([key, signature]) =>
    (await isSigned(store, key, signature)) ? [] : [`${key} is not signed`],
  )
  return (await Promise.all(faults)).flat()
}

/** What was removed needs no signature. */
async function isSigned(store: ObjectStore, key: string, signatureAt: string): Promise<boolean> {
  const [bytes, signature, keys] = await Promise.all([key, signatureAt, KEYS_KEY].map(store.read))
  if (bytes == null) return true
  if (signature == null || keys == null) return false
  const [published] = publicKeys.parse(JSON.parse(new TextDecoder().decode(keys))).keys
  return published !== undefined && isSignedBy(published.public_key_pem, bytes, signature)
}
