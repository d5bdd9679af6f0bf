import { spawn } from 'node:child_process'
import { POLL_MS } from '#api/history/versions/version-source.ts'
import { cacheTag } from '#core/contract/pins.ts'
import { messageOf } from '#storage/error-code.ts'
import { openStore } from '#storage/open-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { readEnvironment } from './environment.ts'
import type { Runtime } from './runtime.ts'
import type { StoreUrls } from './store-option.ts'

/** The command of a CDN waits until every location has the purge. */
const COMMAND_TIMEOUT_MS = 60_000

/** Every tier has looked at the pointer by then, so that caches are not filled with the old version again. */
const SETTLE_MS = POLL_MS + 1_000

/**
 * Runs CDN_PURGE_COMMAND, if it is set, after a command moved the pointer to another version. Once, and without effect on
 * the exit code: the version is published, and caches drop the old one within two minutes by themselves.
 */
export async function followPointer({ storeUrl, s3 }: StoreUrls, runtime: Runtime): Promise<void> {
  const { env, pause, terminal } = runtime
  const { purgeCommand } = readEnvironment(runtime)
  if (purgeCommand === null) return
  try {
    const log = await readLog(await openStore(storeUrl, s3))
    const version = log.at(-1)?.entry.version
    const before = log.at(-2)?.entry.version
    if (version === undefined || before === undefined || before === version) return
    await pause(SETTLE_MS)
    await purge(purgeCommand, { ...env, PURGE_TAGS: cacheTag(before), PURGE_VERSION: version })
    terminal.note(`purged: ${before}`)
  } catch (error) {
    terminal.note(`warning: caches may serve an older version for two minutes: ${messageOf(error)}`)
  }
}

/** Its output may hold a secret and is not printed. */
async function purge(command: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn('/bin/sh', ['-c', command], { env, stdio: 'ignore', timeout: COMMAND_TIMEOUT_MS })
  const end = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  if (end !== 0) {
    throw new Error(`CDN_PURGE_COMMAND ended with ${end}; run it by hand to see its output`)
  }
}
