import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { ifThere } from './error-code.ts'
import { assertKey, isFolder, type ObjectStore } from './object-store.ts'
import { guarded, pathIn } from './placing.ts'

export type Described = { readonly bytes: number; readonly sha256: string }

/** Length and SHA-256 of an object, or null if there is none. It may block, and takes no memory for the bytes of a file. */
export async function measure(store: ObjectStore, key: string): Promise<Described | null> {
  if (!isFolder(store)) return describe(await store.read(key))
  assertKey(key)
  return guarded(store.url, 'read', key, () => ifThere(digestOf(pathIn(store.url, key)), null))
}

export const describe = async (bytes: Uint8Array | null): Promise<Described | null> =>
  bytes && { bytes: bytes.length, sha256: await sha256InTurns(bytes) }

/** What is read before other work of this thread has its turn: a hundredth of a second in memory, a few from a disk. */
export const TURN_BYTES = 2 ** 24

/** The SHA-256 of bytes, with other work of this thread in between: a service answers while it checks gigabytes. */
export async function sha256InTurns(bytes: Uint8Array): Promise<string> {
  const digest = createHash('sha256')
  for (let at = 0; at < bytes.length; at += TURN_BYTES) {
    digest.update(bytes.subarray(at, at + TURN_BYTES))
    await setImmediate()
  }
  return digest.digest('hex')
}

/** Most files of a version fit in. */
const SCRATCH = new Uint8Array(2 ** 20)

let readBytes = 0

/** Blocks, which costs half of what the threads of Node cost, and reads into the same memory. */
async function digestOf(path: string): Promise<Described> {
  if (readBytes > TURN_BYTES) {
    readBytes = 0
    await setImmediate()
  }
  const file = openSync(path, 'r')
  try {
    const digest = createHash('sha256')
    let bytes = 0
    for (let read = -1; read !== 0; bytes += read) {
      read = readSync(file, SCRATCH)
      digest.update(SCRATCH.subarray(0, read))
    }
    readBytes += bytes
    return { bytes, sha256: digest.digest('hex') }
  } finally {
    closeSync(file)
  }
}
