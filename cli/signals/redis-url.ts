import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import type { Environment } from '../environment.ts'

/** Where a Redis of this machine usually is. */
const USUAL_URL = 'redis://127.0.0.1:6379'

/** Says where our own Redis listens, as long as it does. */
const fileIn = (dataFolder: string): string => join(dataFolder, 'redis-url')

/** The Redis of the signals: the one that the operator named, or the one that runs for this data folder, or the usual one. */
export async function redisUrlOf(
  { redisUrl }: Pick<Environment, 'redisUrl'>,
  dataFolder: string,
): Promise<string> {
  return redisUrl ?? (await ownRedisUrl(dataFolder)) ?? USUAL_URL
}

/** Where the Redis that runs for this data folder listens, or did when its service was killed; null where none does. */
export async function ownRedisUrl(dataFolder: string): Promise<string | null> {
  const own = await readFile(fileIn(dataFolder), 'utf8').catch(() => '')
  return own.trim() || null
}

/** Tells other commands on this machine where our own Redis listens. */
export const tellRedisUrl = (dataFolder: string, url: string): Promise<void> =>
  writeFile(fileIn(dataFolder), `${url}\n`)

export const forgetRedisUrl = (dataFolder: string): Promise<void> => rm(fileIn(dataFolder), { force: true })

/** Connects. Rejects with a sentence where Redis does not answer. */
export async function reachRedis(redis: Redis): Promise<void> {
  await redis.connect().catch((cause: unknown) => {
    throw new Error('Redis cannot be reached: start it, or name it in REDIS_URL', { cause })
  })
}
