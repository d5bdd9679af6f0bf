// The stores: rights, space, log, signatures, formats, nginx, and the last night.
import { access, constants, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseIsoInstant, toEpochDay, toIsoInstant } from '#core/calendar.ts'
import { MANIFEST_VERSION, type Manifest } from '#core/contract/manifest.ts'
import { sealKey } from '#core/contract/seals.ts'
import { SNAPSHOT_FORMAT } from '#core/dataset/snapshot.ts'
import { auditFiles } from '#static-build/audit/audit.ts'
import { auditHead, auditLog } from '#static-build/audit/audit-log.ts'
import { auditKeys, auditSignatures } from '#static-build/audit/audit-signatures.ts'
import { createStoreReader } from '#static-build/audit/reader.ts'
import { readAbandoned } from '#storage/lock.ts'
import { SERVED_KEY, servedLine } from '#storage/nginx-files.ts'
import { readFailing, readNight } from '#storage/night-report.ts'
import { assertCreatesOnce, isFolder, type ObjectStore } from '#storage/object-store.ts'
import { assertApart } from '#storage/open-store.ts'
import { readHead, readLog } from '#storage/pointer-log.ts'
import { findManifest, readSnapshotFacts } from '#storage/published-files.ts'
import { unanchored } from '#storage/time-stamps.ts'
import project from '../../package.json' with { type: 'json' }
import { assertClock, assertSignedHead, readSigner } from '../build/guard-pointer.ts'
import { check, ok, problem, skipped, warning } from './check.ts'

/** Neither a version nor an entry of the log: no reader looks for it. */
const PROBE = 'doctor-probe'

/** Reads, lists, and unless the machine only serves, writes and removes an object. */
const rights = (name: string, which: 'store' | 'privateStore') =>
  check(name, [], async ({ [which]: store, isReadOnly, runtime }) => {
    const folder = isFolder(store) ? fileURLToPath(store.url) : null
    if (folder !== null && !(await isAllowed(folder, constants.F_OK))) return notThere(folder)
    await store.read(PROBE)
    if (isReadOnly) return ok(`${store.url} can be read`)
    const bytes = new TextEncoder().encode(toIsoInstant(runtime.now()))
    await store.replace(PROBE, bytes, { content_type: 'text/plain' })
    try {
      const there = await store.read(PROBE)
      if (there === null || Buffer.compare(there, bytes) !== 0)
        return problem(`${store.url} does not return what was written to it`, 'check the disk or the service')
    } finally {
      await store.remove(PROBE)
    }
    await assertCreatesOnce(store)
    return ok(`${store.url} can be read and written`)
  })

async function notThere(folder: string) {
  const above = await nearestFolder(folder)
  return (await isAllowed(above, constants.W_OK))
    ? warning(`${folder} does not exist yet`, NOTHING_PUBLISHED)
    : problem(
        `${folder} does not exist, and this user may not write in ${above}`,
        `create it, and give it to this user: install -d -o USER ${folder}`,
      )
}

const isAllowed = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  )

async function nearestFolder(path: string): Promise<string> {
  return (await isAllowed(path, constants.F_OK)) ? path : nearestFolder(dirname(path))
}

/** What every check of what is published needs. */
export const readableStore = check('public store', [], async ({ store }) => {
  await store.read(PROBE)
  return ok('can be read')
})

const storesApart = check('stores apart', [], async ({ store, privateStore }) => {
  await assertApart(store.url, privateStore.url)
  return ok('no private file is below the public store')
})

/** Versions that must fit beside those that are there: less is a warning, and less than two is a problem. */
const ROOM = 10
const LEAST_ROOM = 2

export const disk = check('disk', [], async ({ store, privateStore }) => {
  const free = Math.min(...(await Promise.all([store, privateStore].filter(isFolder).map(freeOf))))
  if (free === Number.POSITIVE_INFINITY) return skipped('the stores are buckets')
  const size = sizeOf(await servedManifest(store))
  const says = `${toMib(free)} free, room for ${Math.floor(free / size)} versions of ${toMib(size)}`
  const fix = 'free space, or remove old versions: `highwater prune --keep-days 90`'
  if (free < LEAST_ROOM * size) return problem(says, fix)
  return free < ROOM * size ? warning(says, fix) : ok(says)
})

async function freeOf({ url }: ObjectStore): Promise<number> {
  const { bavail, bsize } = await statfs(await nearestFolder(fileURLToPath(url)))
  return bavail * bsize
}

const toMib = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`

/** Without a version, that of a first one of a small book. */
function sizeOf(manifest: Manifest | null): number {
  if (manifest === null) return 2 ** 28
  const files = manifest.artifacts.flatMap(({ bytes, encodings }) => [{ bytes }, ...Object.values(encodings)])
  return files.reduce((sum, file) => sum + (file?.bytes ?? 0), 0)
}

/** Null if nothing is published, or the manifest is not sound, which another check reports. */
async function servedManifest(store: ObjectStore): Promise<Manifest | null> {
  const head = await readHead(store).catch(() => null)
  if (head === null) return null
  const found = await findManifest(store, head.entry)
  return found.fault === null ? found.manifest : null
}

export const clock = check('clock', ['store'], async ({ store, runtime: { now } }) => {
  await assertClock(store, now())
  return ok(`${toIsoInstant(now())}, not before the newest entry of the log`)
})

const pointerLog = check('pointer log', ['store', 'clock'], async ({ store, runtime: { now, terminal } }) => {
  if ((await readHead(store)) === null) return warning('nothing is published', NOTHING_PUBLISHED)
  const reader = createStoreReader(store)
  const { keyring, check: keys } = await auditKeys(reader, { kind: 'published' })
  const { entries, check: log } = await auditLog(reader, terminal.progress)
  const head = auditHead(reader, entries.at(-1)!, now(), true)
  const { check: signatures } = await auditSignatures(reader, keyring, entries, false)
  const faults = [keys, log, head, signatures].flatMap(each => each.faults)
  if (faults.length === 0) return ok(`${log.told}; ${head.told}; ${signatures.told}`)
  const [first] = faults
  const says = `${first!.told}${faults.length === 1 ? '' : ` (and ${faults.length - 1} more)`}`
  return first!.what === 'expired'
    ? warning(says, 'run `highwater refresh`, and see why no night has published since')
    : problem(says, 'run `highwater verify-store`, and restore what it names from a copy')
})

const NOTHING_PUBLISHED = 'publish the first version: `highwater build --book BOOK`'

const signingKey = check('signing key', ['store'], async ({ store, environment }) => {
  const signer = await readSigner(environment)
  await assertSignedHead(store, signer, {})
  return signer === null
    ? skipped('SIGNING_KEY_FILE is not set: publications are not signed')
    : ok(`${signer.keyId}, with which the next entry will be signed`)
})

const timeStamps = check('time stamps', ['store'], async ({ store, environment: { ANCHOR_COMMAND } }) => {
  const log = await readLog(store)
  const missing = await unanchored(store, log)
  if (ANCHOR_COMMAND === null && missing.length === log.length)
    return skipped('ANCHOR_COMMAND is not set: the time of an entry is that of the own clock')
  const says = `${missing.length} of ${log.length} entries of the log have no time stamp`
  return missing.length === 0
    ? ok(says)
    : warning(says, 'run ANCHOR_COMMAND by hand to see its output; the next build asks for them again')
})

const formats = check('formats', ['store'], async ({ store }) => {
  const head = await readHead(store)
  if (head === null) return skipped('nothing is published')
  const found = await findManifest(store, head.entry)
  if (found.fault !== null)
    return problem(
      `the manifest of ${head.entry.version} ${found.fault === 'missing' ? 'is missing' : found.what}`,
      'restore it from a copy, or serve an older version with `highwater rollback`',
    )
  const { version, snapshot_format, manifest_version, built_with } = found.manifest
  const says =
    `${version} was built with highwater ${built_with.highwater}: manifest ${manifest_version}, snapshot ${snapshot_format}; ` +
    `this is highwater ${project.version}: manifest ${MANIFEST_VERSION}, snapshot ${SNAPSHOT_FORMAT}`
  return snapshot_format === SNAPSHOT_FORMAT && manifest_version === MANIFEST_VERSION
    ? ok(says)
    : problem(says, 'install the release that made it (docs/upgrading.md)')
})

/** Files of a version that are read, others every day. */
const SAMPLED = 20

/** Larger ones take longer than a look may. */
const MOST_SAMPLED_BYTES = 2 ** 24

const servedFiles = check('served files', ['store'], async ({ store, runtime: { now } }) => {
  const manifest = await servedManifest(store)
  if (manifest === null) return skipped('nothing is published')
  const small = manifest.artifacts.filter(({ bytes }) => bytes <= MOST_SAMPLED_BYTES)
  const step = Math.ceil(small.length / SAMPLED)
  const artifacts = small.filter((_, i) => (i + toEpochDay(now())) % step === 0)
  const { told, faults } = await auditFiles(createStoreReader(store), { ...manifest, artifacts }, () => {})
  const [first] = faults
  const sample = `${artifacts.length} of ${manifest.artifacts.length} files were read`
  return first === undefined
    ? ok(`${sample}: ${told}`)
    : problem(
        `${sample}: ${first.told}`,
        'run `highwater verify-store`, which reads all, and restore what it names from a copy',
      )
})

const nginx = check('nginx', ['store'], async ({ store }) => {
  const head = await readHead(store)
  const line = isFolder(store) ? await store.read(SERVED_KEY) : null
  if (head === null || line === null) return skipped('no folder that nginx serves')
  const { version } = head.entry
  if (new TextDecoder().decode(line) === servedLine(version)) return ok(`${version} is named as the latest`)
  return warning(
    `${store.url}/${SERVED_KEY} does not name ${version}, which the log serves`,
    'start the history service, which corrects it, or run `highwater refresh`',
  )
})

/** A night a day, and two hours. */
const LONGEST_MS = 26 * 3_600_000

export const lastNight = check('last night', ['store', 'clock'], async ({ store, privateStore, runtime }) => {
  const nowMs = runtime.now()
  const failing = await readFailing(privateStore)
  if (failing !== null) {
    const fix = 'see the log of the last night, correct what it names, and run `highwater nightly`'
    return problem(`nights have failed since ${failing.since}: ${failing.cause}`, fix)
  }
  const killed = await readAbandoned(store, 'night', nowMs)
  if (killed !== null)
    return problem(`the night of ${killed} was killed`, 'see its log, and run `highwater nightly` again')
  const head = await readHead(store)
  if (head === null) return skipped('nothing is published')
  const { version } = head.entry
  const night = await readNight(privateStore, version)
  if (night === null) return skipped(`${version} was published by hand, or rolled back to`)
  const { outcome, ended_utc, summary } = night
  const says = `${version} was published by a night that ended at ${ended_utc}`
  if (outcome === 'failed')
    return problem(`${says} and failed after that`, 'see its log, and run `highwater nightly` again')
  const missing = summary?.missing_bars ?? []
  if (missing.length > 0)
    return warning(`${says}: ${missing.join('; ')}`, 'bring them, and run `highwater nightly`')
  return nowMs - parseIsoInstant(ended_utc)! > LONGEST_MS
    ? warning(`${says}, more than a day ago`, 'see the log of the timer, and run `highwater nightly`')
    : ok(says)
})

/** Whether what is sealed is public before the positions are over. */
const openings = check('openings', ['store'], async ({ store, privateStore, environment: { SEALS } }) => {
  if (SEALS === 'off') return skipped('SEALS=off: no signal is sealed')
  if (!(await store.has(sealKey(1)))) return skipped('no signal is sealed')
  const manifest = await servedManifest(store)
  if (manifest === null) return skipped('nothing is published: nothing is opened')
  const { dataset } = await readSnapshotFacts(privateStore, manifest)
  const { embargo_days: embargo } = dataset
  const says = 'stops, leverage and dry runs of sealed signals are published'
  return embargo > 0 || dataset.synthetic
    ? ok(`${says} ${embargo} days later`)
    : warning(
        `the embargo is 0: ${says} the night after, also of open positions`,
        'set embargo_days in the catalogue of the book, or SEALS=off for the service of signals',
      )
})

/** In the order of the report: what others depend on comes first. */
export const STORE_CHECKS = [
  rights('public store', 'store'),
  rights('private store', 'privateStore'),
  ...[
    storesApart,
    disk,
    clock,
    pointerLog,
    signingKey,
    formats,
    servedFiles,
    timeStamps,
    openings,
    nginx,
    lastNight,
  ],
]
