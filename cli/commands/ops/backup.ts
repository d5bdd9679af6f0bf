// What needs no running service, and for a restore must have none: it speaks with Redis itself.
import { createReadStream } from 'node:fs'
import { access, constants, type FileHandle, open, rename } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Command, InvalidArgumentError } from 'commander'
import type { Redis } from 'ioredis'
import { restoreBackup } from '#signals/backup/restore-backup.ts'
import { backupLines } from '#signals/backup/write-backup.ts'
import { aboveHighWater, readHighWater, UNKNOWN_AHEAD } from '#signals/delivery/high-water.ts'
import { createSecretBox } from '#signals/delivery/secret-box.ts'
import { rekeyWebhooks } from '#signals/delivery/webhooks.ts'
import { beginAnew } from '#signals/log/guard.ts'
import { assertDurable } from '#signals/redis/boot-checks.ts'
import { codeOf } from '#storage/error-code.ts'
import { openStore } from '#storage/open-store.ts'
import { flushFolder } from '#storage/placing.ts'
import { UsageError } from '../../exit.ts'
import type { Runtime } from '../../runtime.ts'
import { startOwnRedis } from '../../services/own-redis.ts'
import { openRedis, ownRedisRuns } from '../../services/redis-url.ts'
import { type Environment, readEnvironment } from '../../settings/environment.ts'
import { readKeyRing } from '../../settings/generated-secrets.ts'

type JsonOption = { readonly json?: boolean }

type RestoreOptions = JsonOption & { readonly force?: boolean }

/** Only its owner may read a backup: it holds the digests of keys and sealed secrets. */
const PRIVATE_MODE = 0o600

const EPOCH_BYTES = 9

/** `highwater ops backup`, `restore`, `rekey` and `begin-anew`. */
export function addBackup(ops: Command, runtime: Runtime): void {
  ops
    .command('backup <file>')
    .description('write everything that Redis holds of the signals to a file, while the service runs')
    .option('--json', 'print what was written as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater ops backup /backups/signals-2026-11-21.jsonl')
    .action((file: string, options: JsonOption) =>
      withRedis(runtime, (redis, environment) =>
        backup(redis, environment, resolve(runtime.cwd, file), runtime, options),
      ),
    )
  ops
    .command('restore <file>')
    .description('restore such a file; stop the service first')
    .option('--force', 'delete what Redis holds of the signals before')
    .option('--json', 'print what was restored as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater ops restore /backups/signals-2026-11-21.jsonl')
    .action((file: string, options: RestoreOptions) =>
      withRedis(runtime, (redis, environment) =>
        restore(redis, environment, resolve(runtime.cwd, file), runtime, options),
      ),
    )
  ops
    .command('rekey')
    .description('seal every webhook with the newest key of SECRET_KEY, so that older keys can be removed')
    .option(
      '--remove-unreadable',
      'remove webhooks that no key opens: their clients pull, and set them again',
    )
    .option('--json', 'print what was done as one JSON document')
    .addHelpText('after', '\nExample:\n  SECRET_KEY="k2:$NEW,k1:$OLD" highwater ops rekey')
    .action((options: RekeyOptions) =>
      withRedis(runtime, (redis, environment) => rekey(redis, environment, runtime, options)),
    )
  addBeginAnew(ops, runtime)
}

/**
 * Acts on Redis itself, and closes the connection. Our own Redis ends with the service, so if REDIS_URL is not set
 * and ours does not run, it is started for as long as the command lasts.
 */
async function withRedis(
  runtime: Runtime,
  act: (redis: Redis, environment: Environment) => Promise<void>,
): Promise<void> {
  const environment = readEnvironment(runtime)
  const folder = environment.DATA_FOLDER
  if (environment.REDIS_URL !== null || (await ownRedisRuns(folder))) {
    const redis = await openRedis(environment)
    return act(redis, environment).finally(() => redis.disconnect())
  }
  const own = await startOwnRedis(runtime, folder, line => runtime.terminal.note(line))
  try {
    const redis = await openRedis(environment)
    await act(redis, environment).finally(() => redis.disconnect())
  } finally {
    await own.stop()
  }
}

/** Makes unique names of epochs. */
export const newEpochOf =
  ({ drawBytes }: Pick<Runtime, 'drawBytes'>) =>
  (): string =>
    Buffer.from(drawBytes(EPOCH_BYTES)).toString('base64url')

async function backup(
  redis: Redis,
  environment: Environment,
  path: string,
  { now, terminal }: Runtime,
  { json = false }: JsonOption,
): Promise<void> {
  const ring = await readKeyRing(environment)
  const draft = `${path}.part` // the file appears only when it is complete
  const file = await openToWrite(draft)
  let lines = 0
  try {
    for await (const line of backupLines(redis, ring, now())) {
      await file.writeFile(`${line}\n`)
      lines++
    }
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  await flushFolder(dirname(path))
  if (json) terminal.json({ file: path, records: lines - 2 })
  else
    terminal.print(`${lines - 2} records are in ${path}; keep SECRET_KEY beside it, or it cannot be restored`)
}

/** Throws a UsageError if the file cannot be created. */
async function openToWrite(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'w', PRIVATE_MODE)
  } catch (error) {
    const code = codeOf(error)
    if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'ENOTDIR' && code !== 'EROFS') throw error
    throw new UsageError(
      `${path}: it cannot be written (${code}); give a file in a folder that is there and that this user may write`,
    )
  }
}

async function restore(
  redis: Redis,
  environment: Environment,
  path: string,
  { now, drawBytes, terminal }: Runtime,
  { json = false, force = false }: RestoreOptions,
): Promise<void> {
  await assertReadable(path)
  if (!environment.ALLOW_UNSAFE_REDIS) await assertDurable(redis)
  const privateStore = await openStore(environment.PRIVATE_STORE_URL, environment.s3)
  const restored = await restoreBackup({
    redis,
    lines: () =>
      createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY }),
    highWater: await readHighWater(privateStore),
    newEpoch: newEpochOf({ drawBytes }),
    nowMs: now(),
    isForced: force,
    ring: await readKeyRing(environment),
  })
  const { print, json: printJson } = terminal
  if (json) return printJson(restored)
  print(
    `${restored.signals} signals of ${restored.made_at} are restored; ${restored.owed} deliveries are owed again`,
  )
  print(
    `the next signal is ${restored.seq + 1}, in the new epoch ${restored.epoch}: clients that see it pull again`,
  )
  print(
    'keys that were revoked after the backup live again, and accounts are as they were: `highwater ops clients list`',
  )
}

type RekeyOptions = JsonOption & { readonly removeUnreadable?: boolean }

async function rekey(
  redis: Redis,
  environment: Environment,
  { drawBytes, terminal }: Runtime,
  { json = false, removeUnreadable: removesUnreadable = false }: RekeyOptions,
): Promise<void> {
  const box = createSecretBox(await readKeyRing(environment), drawBytes)
  const done = await rekeyWebhooks(redis, box, { removesUnreadable })
  if (json) return terminal.json(done)
  const { sealed, untouched, removed } = done
  terminal.print(`${sealed} webhooks are sealed with the new key, ${untouched} already were`)
  if (removed > 0) terminal.print(`${removed} webhooks that no key opens were removed`)
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

type BeginAnewOptions = { readonly above?: number; readonly json?: boolean }

/** `highwater ops begin-anew`: for the case that Redis was lost and there is no backup. */
function addBeginAnew(ops: Command, runtime: Runtime): void {
  ops
    .command('begin-anew')
    .description(
      'continue the numbers under a new epoch if the log is lost and there is no backup; stop the service first',
    )
    .option(
      '--above <seq>',
      'the highest number that may have been used, as the service reports it (default: a million above its mark)',
      toSeq,
    )
    .option('--json', 'print where the log stands as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater ops begin-anew --above 2004')
    .action((options: BeginAnewOptions) =>
      withRedis(runtime, async (redis, environment) => {
        if (!environment.ALLOW_UNSAFE_REDIS) await assertDurable(redis)
        const privateStore = await openStore(environment.PRIVATE_STORE_URL, environment.s3)
        const mark = await readHighWater(privateStore)
        const above = Math.max(options.above ?? (mark && mark + UNKNOWN_AHEAD), aboveHighWater(mark))
        const head = await beginAnew(redis, above, newEpochOf(runtime))
        const { print, json } = runtime.terminal
        if (options.json) return json(head)
        print(
          `the next signal is ${head.seq + 1}, in the new epoch ${head.epoch}: clients that see it pull again`,
        )
        print('clients, keys and webhooks are those that Redis holds: `highwater ops clients list`')
      }),
    )
}

function toSeq(text: string): number {
  const seq = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(seq)) return seq
  throw new InvalidArgumentError('expected the number of a signal, such as 2004')
}
