import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unescape as decode } from 'node:querystring'
import type { Redis } from 'ioredis'
import { type ConnectionOptions, connectRedis } from '#signals/redis/connect.ts'
import { messageOf } from '#storage/error-code.ts'
import type { Runtime } from '../runtime.ts'
import { type Environment, ownRedisFile } from '../settings/environment.ts'
import { PRIVATE_MODE } from '../settings/generated-secrets.ts'
import { ForeignPortError, ownConnector } from './own-connector.ts'

export const ownRedisFolder = (dataFolder: string): string => join(dataFolder, 'redis')

/** The address of the Redis of this data folder, which may not run; null if there never was one, or its file is damaged. */
export async function ownRedisUrl(dataFolder: string): Promise<string | null> {
  const own = (await readFile(ownRedisFile(dataFolder), 'utf8').catch(() => '')).trim()
  const url = URL.parse(own)
  return url?.protocol === 'redis:' && url.port !== '' ? own : null
}

/** The password of an address as it is written there and as Redis gets it: a log may contain neither. */
export function passwordsIn(redisUrl: string): readonly string[] {
  const { password } = new URL(redisUrl)
  return [password, decode(password)]
}

/** Publishes the address of our own Redis to other commands. Only the process that runs it may write it. */
export async function publishRedisUrl(dataFolder: string, url: string): Promise<void> {
  const draft = `${ownRedisFile(dataFolder)}.new`
  await writeFile(draft, `${url}\n`, { mode: PRIVATE_MODE })
  await rename(draft, ownRedisFile(dataFolder)) // another command never reads half an address
}

/**
 * Connects to REDIS_URL, or to the Redis of this data folder, or to the default. Our own may come back on another port: each
 * reconnection uses the published address. Rejects with the fix if none answers, or if another program has the port of ours.
 */
export async function openRedis({
  REDIS_URL,
  DATA_FOLDER: folder,
}: Pick<Environment, 'REDIS_URL' | 'DATA_FOLDER'>): Promise<Redis> {
  const own = REDIS_URL === null ? await ownRedisUrl(folder) : null
  const options = own === null ? {} : ownRedisOptions(folder)
  const redis = connectRedis(REDIS_URL ?? own ?? 'redis://127.0.0.1:6379', () => {}, options) // commands report errors
  if (own !== null) redis.on('close', () => void followOwn(redis, folder))
  await reachRedis(redis).catch((error: Error) => {
    redis.disconnect()
    if (!(error.cause instanceof ForeignPortError)) throw error
    const fix = 'start `highwater serve signals`, or set REDIS_URL'
    throw new Error(`another program has the port of the one in ${ownRedisFolder(folder)}: ${fix}`, {
      cause: error,
    })
  })
  return redis
}

export const ownRedisOptions = (dataFolder: string): ConnectionOptions => ({
  Connector: ownConnector(ownRedisFolder(dataFolder)),
})

/** The connection reads its options at each attempt. */
async function followOwn({ options }: Redis, dataFolder: string): Promise<void> {
  const url = await ownRedisUrl(dataFolder)
  if (url === null) return
  const { hostname, port, password } = new URL(url)
  Object.assign(options, { host: hostname, port: Number(port), password: password || null })
}

/** Connects. Rejects with the fix if Redis does not answer. */
export async function reachRedis(redis: Redis, variable = 'REDIS_URL'): Promise<void> {
  let reason: unknown = null // the promise says only that the connection is closed
  redis.once('error', error => {
    reason = error
  })
  await redis.connect().catch((cause: unknown) => {
    const why = reason ?? cause
    throw new Error(`Redis cannot be reached (${messageOf(why)}): start it, or name it in ${variable}`, {
      cause: why,
    })
  })
}

/** Whether our own Redis answers: false if its service has ended, or was killed, or another program got its port. */
export async function ownRedisRuns(dataFolder: string): Promise<boolean> {
  if ((await ownRedisUrl(dataFolder)) === null) return false
  const redis = await openRedis({ REDIS_URL: null, DATA_FOLDER: dataFolder }).catch(() => null)
  redis?.disconnect()
  return redis !== null
}

/** Makes unique names of epochs. */
export const newEpochOf =
  ({ drawBytes }: Pick<Runtime, 'drawBytes'>) =>
  (): string =>
    Buffer.from(drawBytes(9)).toString('base64url')
