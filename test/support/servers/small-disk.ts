// A disk of its own of a few MiB, in a place that only what is run there sees: full at will, and gone with the test.
import { spawnSync } from 'node:child_process'
import { open, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { startLocalServer } from '#cli/local-server.ts'
import { codeOf } from '#storage/error-code.ts'
import { newRedisFolder } from './redis.ts'

const UNSHARE = ['--map-root-user', '--mount']
const MOUNT = 'mount -t tmpfs -o size=2m tmpfs "$0"'

/** Whether this machine lets somebody mount a disk in a place of its own. */
export const canMount = (): boolean =>
  spawnSync('unshare', [...UNSHARE, 'bash', '-c', MOUNT, '/tmp']).status === 0

export type SmallDisk = {
  /** Where it is for what is run there. */
  readonly folder: string
  /** A command that runs another one where the disk is. */
  readonly within: readonly string[]
  /** Where it is from outside. */
  readonly outside: string
  /** Fills it, but for so many bytes. */
  fill(butBytes: number): Promise<void>
  /** Makes room again. */
  clear(): Promise<void>
  stop(): Promise<void>
}

/** Mounts a disk over a new folder, for as long as it is not stopped. */
export async function mountSmallDisk(): Promise<SmallDisk> {
  const folder = newRedisFolder()
  const hold = `${MOUNT} && echo "ready disk: $$" && exec cat`
  const holder = await startLocalServer('unshare', [...UNSHARE, 'bash', '-c', hold, folder])
  const outside = `/proc/${holder.pid}/root${folder}`
  const filler = join(outside, 'filler')
  return {
    folder,
    within: ['nsenter', '--preserve-credentials', '--user', '--mount', '--target', String(holder.pid)],
    outside,
    async fill(butBytes) {
      await truncate(filler, (await writeUntilFull(filler)) - butBytes)
    },
    clear: () => truncate(filler, 0),
    stop: holder.stop,
  }
}

const BLOCK = new Uint8Array(4_096)

/** Gives how long the file is when nothing more can be written. */
async function writeUntilFull(path: string): Promise<number> {
  const file = await open(path, 'w')
  try {
    for (;;) await file.write(BLOCK)
  } catch (error) {
    if (codeOf(error) !== 'ENOSPC') throw error
    return (await file.stat()).size
  } finally {
    await file.close()
  }
}
