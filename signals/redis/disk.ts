import { statfs } from 'node:fs/promises'
import type { Redis } from 'ioredis'
import { codeOf } from '#storage/error-code.ts'
import { askRedis } from './connect.ts'

/**
 * How much of the disk under the append-only file is used, from 0 to 1, as `df` tells it; null where the folder is not
 * told or not there. Only for a Redis on this machine: the folder of another's may by chance have the name of one here.
 */
export async function usedOfDisk(redis: Redis): Promise<number | null> {
  const reply: unknown = await askRedis(() => redis.config('GET', 'dir'))
  const folder: unknown = Array.isArray(reply) ? reply[1] : undefined
  if (typeof folder !== 'string') return null
  try {
    const { blocks, bfree, bavail } = await statfs(folder)
    const used = blocks - bfree
    return used + bavail === 0 ? null : used / (used + bavail)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
