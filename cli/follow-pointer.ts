import { POLL_MS } from '#api/history/versions/version-source.ts'
import { cacheTag } from '#core/contract/pins.ts'
import { messageOf } from '#storage/error-code.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { readEnvironment } from './environment.ts'
import { anchorEntries } from './anchor.ts'
import type { Runtime } from './runtime.ts'
import { runShell } from './shell.ts'
import type { StoreUrls } from './store-option.ts'

/** The command of a CDN waits until every location has the purge. */
const COMMAND_TIMEOUT_MS = 60_000

/** Every tier has looked at the pointer by then, so that caches are not filled with the old version again. */
const SETTLE_MS = POLL_MS + 1_000

/**
 * Runs ANCHOR_COMMAND for the entries of the log without a time stamp, and CDN_PURGE_COMMAND if the pointer moved to another
 * version; each if it is set, and without effect on the exit code: the version is published.
 */
export async function followPointer({ storeUrl, s3 }: StoreUrls, runtime: Runtime): Promise<void> {
  const { anchorCommand, purgeCommand } = readEnvironment(runtime)
  if (anchorCommand === null && purgeCommand === null) return
  const store = await openStore(storeUrl, s3)
  if (anchorCommand !== null) await anchorEntries(store, anchorCommand, runtime)
  if (purgeCommand !== null) await purge(store, purgeCommand, runtime)
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
    const told = { ...env, PURGE_TAGS: cacheTag(before), PURGE_VERSION: version }
    await runShell(command, { env: told, timeoutMs: COMMAND_TIMEOUT_MS }).catch((error: unknown) => {
      throw new Error(`CDN_PURGE_COMMAND ${messageOf(error)}; run it by hand to see its output`)
    })
    terminal.note(`purged: ${before}`)
  } catch (error) {
    terminal.note(`warning: caches may serve an older version for two minutes: ${messageOf(error)}`)
  }
}
