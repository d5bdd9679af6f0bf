import { statfs } from 'node:fs/promises'
import { codeOf } from '#storage/error-code.ts'

/**
 * How much of the disk under the append-only file is used, from 0 to 1, as `df` tells it; null where the system cannot look
 * at the folder, as where it is not there: who asks has worse to tell meanwhile. It is asked of the disk and not of Redis, so that it is known also when a full disk has ended Redis. `folder` is
 * where a Redis on this machine keeps its data.
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

/** Throws a sentence where a folder that an operator named cannot be looked at: it would never raise an alarm. */
export async function assertDisk(folder: string): Promise<void> {
  const used = await usedOfDisk(folder)
  if (used !== null) return
  throw new Error(
    `REDIS_FOLDER: there is no folder ${folder} that can be looked at: name the one where the Redis of REDIS_URL keeps its ` +
      'data (CONFIG GET dir), or leave REDIS_FOLDER away where it is on another machine',
  )
}
