import { openSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unescape as decode } from 'node:querystring'
import type { Redis } from 'ioredis'
import { connectRedis } from '#signals/redis/connect.ts'
import { messageOf } from '#storage/error-code.ts'
import type { Runtime } from '../runtime.ts'
import { type Environment, ownRedisFile } from '../settings/environment.ts'
import { PRIVATE_MODE } from '../settings/generated-secrets.ts'

export const ownRedisFolder = (dataFolder: string): string => join(dataFolder, 'redis')

/** A longer path is none of a socket. */
const LONGEST_SOCKET_PATH = 107

/**
 * An address of our own Redis with its socket, by which we connect: only the owner of the folder and root can make one there. Any
 * program can take the port while our Redis is away, and would get the password and the commands that wait for an answer.
 */
export function withSocket(dataFolder: string, url: string): string {
  const socketIn = (folder: string): string => join(ownRedisFolder(folder), 'redis.sock')
  const isLong = Buffer.byteLength(socketIn(dataFolder)) > LONGEST_SOCKET_PATH
  const folder = isLong ? `/proc/self/fd/${openSync(dataFolder, 'r')}` : dataFolder // stays open until the process ends
  return `${url}?path=${encodeURIComponent(socketIn(folder))}`
}

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

type RedisPlace = Pick<Environment, 'REDIS_URL' | 'DATA_FOLDER'>

/**
 * Connects to REDIS_URL, or to the Redis of this data folder, or to the default. Our own may come back with another password: each
 * reconnection uses the published one. Rejects with the fix if none answers.
 */
export async function openRedis({ REDIS_URL, DATA_FOLDER: folder }: RedisPlace): Promise<Redis> {
  const own = REDIS_URL === null ? await ownRedisUrl(folder) : null
  const address = own === null ? (REDIS_URL ?? 'redis://127.0.0.1:6379') : withSocket(folder, own)
  const redis = connectRedis(address, () => {}) // commands report errors
  if (own !== null) redis.on('close', () => void followOwn(redis, folder))
  await reachRedis(redis).catch((error: Error) => {
    redis.disconnect()
    throw error
  })
  return redis
}

/** The connection reads its options at each attempt. */
async function followOwn({ options }: Redis, dataFolder: string): Promise<void> {
  const url = await ownRedisUrl(dataFolder)
  if (url !== null) options.password = new URL(url).password
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

/** Connects as `openRedis`; null if REDIS_URL is not set, and our own Redis does not run: its service has ended, or was killed. */
export async function openIfRuns(of: RedisPlace): Promise<Redis | null> {
  if (of.REDIS_URL !== null) return openRedis(of)
  return (await ownRedisUrl(of.DATA_FOLDER)) === null ? null : openRedis(of).catch(() => null)
}

/** Makes unique names of epochs. */
export const newEpochOf =
  ({ drawBytes }: Pick<Runtime, 'drawBytes'>) =>
  (): string =>
    Buffer.from(drawBytes(9)).toString('base64url')
