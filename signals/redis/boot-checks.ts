import { statfs } from 'node:fs/promises'
import type { Redis } from 'ioredis'
import { codeOf } from '#storage/error-code.ts'
import { askRedis, WritesRefusedError } from './connect.ts'

/** Settings of a Redis that keeps what it has acknowledged. */
const NEEDED: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
}

/**
 * One sentence per setting under which this Redis could lose an acknowledged signal. A managed Redis may refuse to
 * answer, which is such a sentence.
 */
export async function durabilityProblems(redis: Redis): Promise<readonly string[]> {
  const settings = Object.entries(NEEDED)
  const found = await askRedis(() => Promise.all(settings.map(([name]) => settingOf(redis, name))))
  return settings.flatMap(([name, needed], i) =>
    found[i] === needed ? [] : [`${name} is ${found[i] ?? 'unknown'} and must be ${needed}`],
  )
}

const settingOf = (redis: Redis, name: string): Promise<string | null> =>
  redis.config('GET', name).then(
    reply => (Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : null),
    (error: unknown) => {
      if (error instanceof Error && error.name === 'ReplyError') return null
      throw error
    },
  )

/** Throws WritesRefusedError, which has the fix, unless this Redis keeps what it acknowledges. */
export async function assertDurable(redis: Redis): Promise<void> {
  const problems = await durabilityProblems(redis)
  if (problems.length === 0) return
  const error = new WritesRefusedError('UNSAFE', null)
  error.message =
    `this Redis could lose an acknowledged signal: ${problems.join('; ')}. Set these in its configuration, or, if ` +
    'its provider guarantees durability in another way, set ALLOW_UNSAFE_REDIS=yes'
  throw error
}

/**
 * The used share of the disk under the append-only file, 0 to 1, as `df` computes it; null if the folder cannot be
 * read. Read from the disk and not from Redis, so that it is known when a full disk has ended Redis.
 */
export async function usedOfDisk(folder: string): Promise<number | null> {
  try {
    const { blocks, bfree, bavail } = await statfs(folder)
    const used = blocks - bfree
    return used + bavail === 0 ? null : used / (used + bavail)
  } catch (error) {
    if (codeOf(error) !== undefined) return null
    throw error
  }
}

/** Throws if a configured folder cannot be read: it would never raise an alert. */
export async function assertDisk(folder: string): Promise<void> {
  const used = await usedOfDisk(folder)
  if (used !== null) return
  throw new Error(
    `REDIS_FOLDER: the folder ${folder} cannot be read: set it to the data folder of the Redis of REDIS_URL ` +
      '(CONFIG GET dir), or remove REDIS_FOLDER if that Redis is on another machine',
  )
}
