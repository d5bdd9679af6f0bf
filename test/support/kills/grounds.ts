// Where processes are killed at one of their operations on a store: a folder, and a bucket behind a proxy.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'
import { newPrivateKeyPem } from '#storage/signature.ts'
import type { Stores } from '../books/publish-book.ts'
import { startHighwater } from '../history/highwater-process.ts'
import type { Exit, Running } from '../processes.ts'
import { type Asked, startS3Proxy } from '../servers/s3-proxy.ts'
import { s3Env, s3Server, tinyS3Stores } from '../stores/s3-stores.ts'
import { copyStores, withStart } from '../stores/stores.ts'
import { lastingFolder } from '../temporary-folder.ts'
import type { Kill } from './kill-at.ts'

export type Ground = {
  /** Threads of its builds. */
  readonly threads: number
  /** Stores with the first version in them. */
  readonly open: () => Promise<Stores>
  /** Starts a command that nothing happens to. */
  readonly start: (args: readonly string[]) => Running
  /** Runs a command to its end, and counts its operations. */
  readonly count: (args: readonly string[]) => Promise<{ readonly exit: Exit; readonly operations: number }>
  /** Runs a command until it reaches an operation; one that it never reaches lets it end by itself. */
  readonly runUntil: (args: readonly string[], kill: Kill) => Promise<Exit>
}

/** A new key that the commands of some grounds sign with. */
export async function newKeyFile(): Promise<string> {
  const path = join(await lastingFolder(), 'signing.pem')
  await writeFile(path, newPrivateKeyPem())
  return path
}

const PRELOAD = `--import ${new URL('./kill-at.ts', import.meta.url).href}`

/** Folders: operations are the writes, flushes and removals of the process itself, which signs if there is a key. */
export async function fileGround(keyFile = ''): Promise<Ground> {
  const env = { SIGNING_KEY_FILE: keyFile }
  const countFile = join(await lastingFolder(), 'count')
  const preloaded = (more: Record<string, string>) => ({ env: { ...env, NODE_OPTIONS: PRELOAD, ...more } })
  return {
    threads: 2, // whose writes are counted together
    open: () => withStart(copyStores(inject('tinyStore'))),
    start: args => startHighwater(args, { env }),
    count: async args => {
      const exit = await startHighwater(args, preloaded({ HIGHWATER_TEST_COUNT: countFile })).ended
      return { exit, operations: Number(await readFile(countFile, 'utf8')) }
    },
    runUntil: (args, kill) =>
      startHighwater(args, preloaded({ HIGHWATER_TEST_KILL: JSON.stringify(kill) })).ended,
  }
}

/** Buckets: operations are the requests as they come to a proxy. One command at a time, a ground of its own each. */
export async function s3Ground(keyFile: string): Promise<Ground> {
  const proxy = await startS3Proxy()
  const server = await s3Server()
  const keys = { SIGNING_KEY_FILE: keyFile }
  const env = { ...keys, ...s3Env(proxy.access) }
  return {
    threads: 1,
    open: () => withStart(tinyS3Stores()),
    start: args => startHighwater(args, { env: { ...keys, ...s3Env(server) } }),
    count: async args => {
      proxy.meddle(() => null)
      const exit = await startHighwater(args, { env }).ended
      return { exit, operations: proxy.asked().length }
    },
    runUntil: async (args, kill) => {
      let building: Running | null = null
      let [count, isHit] = [0, false]
      proxy.meddle(asked => {
        const isNow = !isHit && isAt(kill, asked, count++)
        if (!isNow) return isHit ? 'silence' : null // the process is gone
        isHit = true
        building?.kill('SIGKILL')
        return kill.isDone ? null : 'silence'
      })
      building = startHighwater(args, { env })
      const exit = await building.ended
      await proxy.settled()
      return exit
    },
  }
}

const isAt = ({ at }: Kill, { method, path }: Asked, count: number): boolean =>
  'nth' in at ? at.nth === count : method === 'PUT' && new RegExp(at.path).test(path)
