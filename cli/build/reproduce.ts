// Building a published version again, to compare it: `highwater build --reproduce`.
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
import { UsageError } from '../exit.ts'
import type { BuildOrder } from '../options/build-options.ts'
import { openStores } from '../options/store-option.ts'
import { assertSound, printChecks } from '../print/verify-report.ts'
import type { Runtime } from '../runtime.ts'
import { publicationOf, readBookOf } from './build-version.ts'
import { readSigner } from './guard-pointer.ts'

const REMEDY =
  'nothing was published; to get the same files, build with the book, the --as-of, the signing key and the code of that day'

/**
 * Builds the version of a manifest again in a temporary folder, as of the time that the manifest names, and checks what was
 * built against the manifest. Publishes nothing. Throws if an object differs.
 */
export async function reproduce(path: string, order: BuildOrder, runtime: Runtime): Promise<void> {
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
    printChecks(found, runtime.terminal)
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
