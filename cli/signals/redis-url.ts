import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { messageOf } from '#storage/error-code.ts'
import type { Environment } from '../environment.ts'

/** The default address of a Redis. */
const USUAL_URL = 'redis://127.0.0.1:6379'

/** The file with the address of our own Redis while it runs. */
const fileIn = (dataFolder: string): string => join(dataFolder, 'redis-url')

/** The Redis of the signals: REDIS_URL, or the one that runs for this data folder, or the default. */
export async function redisUrlOf(
  { redisUrl }: Pick<Environment, 'redisUrl'>,
  dataFolder: string,
): Promise<string> {
  return redisUrl ?? (await ownRedisUrl(dataFolder)) ?? USUAL_URL
}

/** The address of the Redis of this data folder, possibly left by a killed service; null if there is none. */
export async function ownRedisUrl(dataFolder: string): Promise<string | null> {
  const own = await readFile(fileIn(dataFolder), 'utf8').catch(() => '')
  return own.trim() || null
}

/** Publishes the address of our own Redis to other commands. */
export const publishRedisUrl = (dataFolder: string, url: string): Promise<void> =>
  writeFile(fileIn(dataFolder), `${url}\n`)

export const removeRedisUrl = (dataFolder: string): Promise<void> => rm(fileIn(dataFolder), { force: true })

/** Connects. Rejects with the fix if Redis does not answer. */
export async function reachRedis(redis: Redis): Promise<void> {
  await redis.connect().catch((cause: unknown) => {
    const why = messageOf(cause)
    throw new Error(`Redis cannot be reached (${why}): start it, or name it in REDIS_URL`, { cause })
  })
}
