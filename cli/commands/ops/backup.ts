// What needs no running service, and for a restore must have none: it speaks with Redis itself.
import { createReadStream } from 'node:fs'
import { access, constants, type FileHandle, open, rename } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Redis } from 'ioredis'
import { restoreBackup } from '#signals/backup/restore-backup.ts'
import { backupLines } from '#signals/backup/write-backup.ts'
import { startNewEpoch } from '#signals/log/guard.ts'
import { aboveHighWater, readHighWater, UNKNOWN_AHEAD } from '#signals/log/high-water.ts'
import { rekeyWebhooks } from '#signals/outbox/rekey.ts'
import { createSecretBox } from '#signals/outbox/secret-box.ts'
import { assertDurable } from '#signals/redis/boot-checks.ts'
import { codeOf } from '#storage/error-code.ts'
import { openStore } from '#storage/open-store.ts'
import { flushFolder } from '#storage/placing.ts'
import { type Commands, define, flag, option } from '../../options/command.ts'
import { newEpochOf, openIfRuns, openRedis } from '../../outside/redis-url.ts'
import { type Runtime, UsageError } from '../../runtime.ts'
import { startOwnRedis } from '../../services/own-redis.ts'
import { type Environment, readEnvironment } from '../../settings/environment.ts'
import { PRIVATE_MODE, readKeyRing } from '../../settings/generated-secrets.ts'
import { wholeNumber } from '../../settings/text.ts'

const force = flag('delete what Redis holds of the signals before')
const removeUnreadable = flag('remove webhooks that no key opens: their clients pull, and set them again')
const above = option(
  '<seq>',
  'the highest number that may have been used, as the service reports it (default: a million above its mark)',
  wholeNumber(0, Number.MAX_SAFE_INTEGER, 'the number of a signal, such as 2004'),
)
const json = flag('print what was done as one JSON document')

type Options = Partial<Readonly<Record<'json' | 'force' | 'removeUnreadable', boolean | undefined>>> & {
  readonly above?: number | undefined
}

type Place = {
  readonly redis: Redis
  readonly environment: Environment
  readonly runtime: Runtime
  /** Of the file that the command is given. */
  readonly path: string
}

/** What was done, for `--json` and in sentences. */
type Done = { readonly json: unknown; readonly lines: readonly string[] }

const REKEY_EXAMPLE = '\nExample:\n  SECRET_KEY="k2:$NEW,k1:$OLD" highwater ops rekey'
const EXAMPLE = '\nExample:\n  highwater ops'
const FILE = { '<file>': 'the copy, a line of JSON for each record' }

export const BACKUP_COMMANDS: Commands = {
  backup: [
    'write everything that Redis holds of the signals to a file, while the service runs',
    define({ json }, `${EXAMPLE} backup /backups/signals-2026-11-21.jsonl`, onRedis(backup), FILE),
  ],
  restore: [
    'restore such a file; stop the service first',
    define({ json, force }, `${EXAMPLE} restore /backups/signals-2026-11-21.jsonl`, onRedis(restore), FILE),
  ],
  rekey: [
    'seal every webhook with the newest key of SECRET_KEY, so that older keys can be removed',
    define({ json, removeUnreadable }, REKEY_EXAMPLE, onRedis(rekey)),
  ],
  'begin-anew': [
    'continue the numbers under a new epoch if the log is lost and there is no backup; stop the service first',
    define({ json, above }, `${EXAMPLE} begin-anew --above 2004`, onRedis(beginAgain)),
  ],
}

/** Acts on Redis itself, and prints what was done. */
function onRedis(act: (place: Place, options: Options) => Promise<Done>) {
  return async (options: Options, runtime: Runtime, file = ''): Promise<void> => {
    const { cwd, terminal } = runtime
    const environment = readEnvironment(runtime)
    const { json, lines } = await withRedis(environment, runtime, redis =>
      act({ redis, environment, runtime, path: resolve(cwd, file) }, options),
    )
    terminal.result(options.json, json, lines)
  }
}

/** Gives a command the Redis of the signals. Our own Redis, if it is meant and does not run, is started for as long. */
export async function withRedis<T>(
  environment: Environment,
  runtime: Runtime,
  act: (redis: Redis) => Promise<T>,
): Promise<T> {
  const running = await openIfRuns(environment)
  const { DATA_FOLDER } = environment
  const own = running === null ? await startOwnRedis(runtime, DATA_FOLDER, runtime.terminal.note) : null
  try {
    const redis = running ?? (await openRedis(environment))
    return await act(redis).finally(() => redis.disconnect())
  } finally {
    await own?.stop()
  }
}

async function backup({ redis, environment, runtime, path }: Place): Promise<Done> {
  const ring = await readKeyRing(environment)
  const draft = `${path}.part` // the file appears only when it is complete
  const file = await openToWrite(draft)
  let records = -2 // without the first line and the last
  try {
    for await (const line of backupLines(redis, ring, runtime.now())) {
      await file.writeFile(`${line}\n`)
      records++
    }
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  await flushFolder(dirname(path))
  const says = `${records} records are in ${path}; keep SECRET_KEY beside it, or it cannot be restored`
  return { json: { file: path, records }, lines: [says] }
}

/** Throws a UsageError if the file cannot be created. */
async function openToWrite(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'w', PRIVATE_MODE) // it holds the digests of keys and sealed secrets
  } catch (error) {
    const code = codeOf(error)
    if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'ENOTDIR' && code !== 'EROFS') throw error
    throw new UsageError(
      `${path}: it cannot be written (${code}); give a file in a folder that is there and that this user may write`,
    )
  }
}

async function restore({ redis, environment, runtime, path }: Place, { force = false }: Options) {
  await assertReadable(path)
  if (!environment.ALLOW_UNSAFE_REDIS) await assertDurable(redis)
  const privateStore = await openStore(environment.PRIVATE_STORE_URL, environment.s3)
  const restored = await restoreBackup({
    redis,
    lines: () =>
      createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY }),
    highWater: await readHighWater(privateStore),
    newEpoch: newEpochOf(runtime),
    nowMs: runtime.now(),
    isForced: force,
    ring: await readKeyRing(environment),
  })
  const lines = [
    `${restored.signals} signals of ${restored.made_at} are restored; ${restored.owed} deliveries are owed again`,
    nextSignal(restored),
    'keys that were revoked after the backup live again, and accounts are as they were: `highwater ops clients list`',
    'nothing is sealed until `highwater seals begin-anew --reason TEXT`, if there was a seal: stores may be copies as old as the backup',
  ]
  return { json: restored, lines }
}

const nextSignal = ({ seq, epoch }: { readonly seq: number; readonly epoch: string }): string =>
  `the next signal is ${seq + 1}, in the new epoch ${epoch}: clients that see it pull again`

async function rekey({ redis, environment, runtime }: Place, { removeUnreadable = false }: Options) {
  const box = createSecretBox(await readKeyRing(environment), runtime.drawBytes)
  const done = await rekeyWebhooks(redis, box, { removesUnreadable: removeUnreadable })
  const { sealed, untouched, removed } = done
  const says = `${sealed} webhooks are sealed with the new key, ${untouched} already were`
  return {
    json: done,
    lines: removed > 0 ? [says, `${removed} webhooks that no key opens were removed`] : [says],
  }
}

/** For the case that Redis was lost and there is no backup. */
async function beginAgain({ redis, environment, runtime }: Place, options: Options): Promise<Done> {
  if (!environment.ALLOW_UNSAFE_REDIS) await assertDurable(redis)
  const mark = await readHighWater(await openStore(environment.PRIVATE_STORE_URL, environment.s3))
  const above = Math.max(options.above ?? (mark && mark + UNKNOWN_AHEAD), aboveHighWater(mark))
  const head = await startNewEpoch(redis, above, newEpochOf(runtime))
  const kept = 'clients, keys and webhooks are those that Redis holds: `highwater ops clients list`'
  return { json: head, lines: [nextSignal(head), kept] }
}

/** Resolves with the path itself. Throws a UsageError if there is no file, or we may not read it. */
export async function assertReadable(path: string): Promise<string> {
  try {
    await access(path, constants.R_OK)
    return path
  } catch (error) {
    const what = codeOf(error) === 'ENOENT' ? 'there is no such file' : 'it cannot be read'
    throw new UsageError(`${path}: ${what}; give the path of one that this user may read`)
  }
}
