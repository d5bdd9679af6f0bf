import { POLL_MS } from '#api/history/versions/version-source.ts'
import { cacheTag } from '#core/contract/pins.ts'
import { anchorKey } from '#core/contract/pointer.ts'
import { messageOf } from '#storage/error-code.ts'
import { IMMUTABLE_BYTES, type ObjectStore } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { isReply, readTimeStamp, unanchored } from '#storage/time-stamps.ts'
import { runShell } from '../outside/shell.ts'
import type { Runtime } from '../runtime.ts'
import type { Environment } from '../settings/environment.ts'

/** The command of a CDN waits until every location has the purge. */
const COMMAND_TIMEOUT_MS = 60_000

/** Every tier has looked at the pointer by then, so that caches are not filled with the old version again. */
const SETTLE_MS = POLL_MS + 1_000

/**
 * Runs ANCHOR_COMMAND for the entries of the log without a time stamp, and CDN_PURGE_COMMAND if the pointer moved to another
 * version; each if it is set, and without effect on the exit code: the version is published.
 */
export async function followPointer(settings: Environment, runtime: Runtime): Promise<void> {
  const { STORE_URL, s3, ANCHOR_COMMAND, CDN_PURGE_COMMAND } = settings
  if (ANCHOR_COMMAND === null && CDN_PURGE_COMMAND === null) return
  const store = await openStore(STORE_URL, s3)
  if (ANCHOR_COMMAND !== null) await anchorEntries(store, ANCHOR_COMMAND, runtime)
  if (CDN_PURGE_COMMAND !== null) await purge(store, CDN_PURGE_COMMAND, runtime)
}

/** Caches drop the old version within two minutes by themselves. The output may hold a secret and is not printed. */
async function purge(store: ObjectStore, command: string, runtime: Runtime): Promise<void> {
  const { env, pause, terminal } = runtime
  try {
    const log = await readLog(store)
    const version = log.at(-1)?.entry.version
    const before = log.at(-2)?.entry.version
    if (version === undefined || before === undefined || before === version) return
    await pause(SETTLE_MS)
    const tagged = { ...env, PURGE_TAGS: cacheTag(before), PURGE_VERSION: version }
    await runShell(command, { env: tagged, timeoutMs: COMMAND_TIMEOUT_MS }).catch((error: unknown) => {
      throw new Error(`CDN_PURGE_COMMAND ${messageOf(error)}; run it by hand to see its output`)
    })
    terminal.note(`purged: ${before}`)
  } catch (error) {
    terminal.note(`warning: caches may serve an older version for two minutes: ${messageOf(error)}`)
  }
}

// Time stamps of the entries of the log, from an authority that the publisher does not own.

/** An authority answers in a second. */
const TIMEOUT_MS = 30_000

/** Entries that one run has stamped: the newest, and older ones whose commands failed. */
const MOST_A_RUN = 20

/** A reply takes a few kilobytes. */
const MOST_BYTES = 1 << 16

/** Asks for a proof of each entry without one, the newest first, until one fails; the next run continues. Never rejects. */
async function anchorEntries(store: ObjectStore, command: string, runtime: Runtime): Promise<void> {
  let left = 0
  try {
    const missing = await unanchored(store, await readLog(store))
    left = missing.length
    for (const { sha256 } of missing.toReversed().slice(0, MOST_A_RUN)) {
      await store.create(anchorKey(sha256), await prove(command, sha256, runtime), IMMUTABLE_BYTES)
      left--
    }
  } catch (error) {
    const rest = `entries of the log without a time stamp: ${left}; the next run asks again`
    runtime.terminal.note(`warning: ANCHOR_COMMAND ${messageOf(error)}; ${rest}`)
  }
}

/** What the command prints for a digest: a proof is stored for ever, so one that proves nothing is refused. */
export async function prove(
  command: string,
  sha256: string,
  { env }: Pick<Runtime, 'env'>,
): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  await runShell(command, {
    ...{ env: { ...env, ENTRY_SHA256: sha256 }, timeoutMs: TIMEOUT_MS, input: `${sha256}\n` },
    watch: ({ stdout, stderr }) => {
      stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
      stderr?.resume()
    },
  })
  const proof = Uint8Array.from(Buffer.concat(chunks))
  if (proof.length === 0 || proof.length > MOST_BYTES)
    throw new Error(`printed ${proof.length} bytes, no proof`)
  if (!isReply(proof) || readTimeStamp(proof, sha256) !== null) return proof
  throw new Error('printed a reply without a time stamp of the digest and the certificate of its authority')
}
