import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Manifest, manifest as manifestSchema } from '#core/contract/manifest.ts'
import { computeSnapshot } from '#pipeline/night/compute-snapshot.ts'
import { auditFilesOf } from '#static-build/audit/audit.ts'
import { logBefore } from '#static-build/compare-with-published.ts'
import { writeVersion } from '#static-build/publish-version.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { openStore, privateTwin } from '#storage/open-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { printSummary, toSummary } from '../build/build-summary.ts'
import { buildVersion, publicationOf, readBookOf } from '../build/build-version.ts'
import { followPointer } from '../build/follow-pointer.ts'
import { readSigner } from '../build/guard-pointer.ts'
import { BUILD_OPTIONS, type BuildOrder, toBuildOrder } from '../options/build-options.ts'
import { define, flag, option } from '../options/command.ts'
import { openStores } from '../options/store-option.ts'
import { assertSound, checkLines, printAudit } from '../print/verify-report.ts'
import { type Runtime, UsageError } from '../runtime.ts'

const EXAMPLES = `
Examples:
  highwater build --book ./book --store file:///var/lib/highwater
  highwater build --book ./book --reproduce /var/lib/highwater/v1/snapshots/20260701T001500Z/manifest.json
  highwater build --book ./book --store file:///tmp/past --as-of 2026-06-30 --version 2026-07-01T00:15:00Z`

const OPTIONS = {
  ...BUILD_OPTIONS,
  json: flag('print the summary as one JSON document'),
  reproduce: option('<manifest>', 'build the version of this manifest again, compare, and publish nothing'),
}

export const defineBuild = define(OPTIONS, EXAMPLES, async (options, runtime) => {
  const order = toBuildOrder(options, runtime)
  if (options.reproduce !== undefined) return reproduce(options.reproduce, order, runtime)
  const summary = await toSummary(await buildVersion(order, runtime))
  if (options.json) runtime.terminal.json(summary)
  else printSummary(summary, runtime.terminal)
  await followPointer(order.settings, runtime)
})

const REMEDY =
  'nothing was published; to get the same files, build with the book, the --as-of, the signing key and the code of that day'

/** Builds the version of a manifest again in a temporary folder, and checks it against the manifest. Throws if an object differs. */
async function reproduce(path: string, order: BuildOrder, runtime: Runtime): Promise<void> {
  const { version } = order
  if (version !== null)
    throw new UsageError('--reproduce takes the version from the manifest: leave --version out')
  const parsed = manifestSchema.safeParse(parseJson(await readFile(resolve(runtime.cwd, path))))
  if (!parsed.success) throw new Error(`${path} is not a manifest: take manifest.json of the version`)
  const published = parsed.data
  const folder = await mkdtemp(join(tmpdir(), 'highwater-reproduce-'))
  try {
    const url = pathToFileURL(join(folder, 'store')).href
    const target = { store: await openStore(url), privateStore: await openStore(privateTwin(url)) }
    const made = await make(published, order, target, runtime)
    const checks = await auditFilesOf(target, published, runtime.terminal.progress)
    const found = { head: null, trusted: [], checks }
    printAudit(found, { isJson: false, report: found, lines: checkLines(found) }, runtime.terminal)
    const [then, now] = [published, made].map(({ built_with }) => JSON.stringify(built_with))
    if (then !== now) runtime.terminal.print(`built with ${now}; the published version with ${then}`)
    assertSound(published.version, found, REMEDY)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function make(
  { version, entered, previous, built_with, time_stamps }: Manifest,
  given: BuildOrder,
  target: Parameters<typeof writeVersion>[1],
  runtime: Runtime,
): Promise<Manifest> {
  const { store, privateStore } = await openStores(given.settings)
  const log = logBefore(await readLog(store), version)
  const before = log.at(-1)?.entry.version ?? null
  if (previous !== before)
    throw new Error(
      `${version} followed ${previous ?? 'no version'}, and before it ${store.url} served ${before ?? 'none'}: name the stores ` +
        'in which it was published with --store and --private-store',
    )
  const order = { ...given, allowStale: true, store, privateStore, signer: await readSigner(given.settings) }
  const book = await readBookOf(order, runtime)
  const { asOf, allowStale, threads } = order
  const { progress } = runtime.terminal
  const options = { asOf, allowStale, threads, progress, nowMs: runtime.now(), elapsedMs: runtime.elapsed }
  const night = await computeSnapshot(book, { version, ...options })
  const effort = built_with.effort ?? order.effort
  const publication = await publicationOf({ ...order, book, effort, entered, progress }, night, runtime)
  return (await writeVersion({ ...publication, timeStamps: time_stamps }, target, log)).manifest
}
