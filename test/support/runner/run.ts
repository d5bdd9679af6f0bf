/**
 * What the files of a run share. The tiny book is published before the first; servers and the browser start when a file asks
 * for them, and end with the run. It works in the main process, outside the processes of the tests.
 */
import { existsSync, globSync, readFileSync, statfsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TestProject } from 'vitest/node'
import { publishBook, type Stores, TINY_BOOK } from '../books/publish-book.ts'
import { serveChromium } from '../browser/chromium.ts'
import { spawnProcess } from '../processes.ts'
import { startTestRedis } from '../servers/redis.ts'
import { type ServerAccess, startS3Server } from '../servers/s3-server.ts'

const ROOT = join(import.meta.dirname, '../../..')

declare module 'vitest' {
  interface ProvidedContext {
    /** Where `shared` asks. */
    run: string
    /** A store with one published version of the tiny book, and its private twin. Tests read it and never write. */
    tinyStore: { readonly url: string; readonly privateUrl: string }
  }
}

type Sample = { readonly url: string; readonly printed: string; readonly stores: Stores }

type Started<Value> = { readonly value: Value; readonly stop: () => Promise<unknown> }

export type Shared = {
  /** How the S3 server is reached. Each test makes buckets of its own. */
  readonly s3: ServerAccess
  /** A browser for `connect`; pages are in contexts of the tests' own. */
  readonly chromium: { readonly url: string }
  /** `highwater serve history` of the tiny store. */
  readonly history: { readonly url: string }
  /** `highwater run` of the sample book, what it printed until it served, and the stores that it built. */
  readonly sample: Sample
} & {
  /** The Redis of a process of tests. */
  readonly [redis: `redis/${string}`]: { readonly url: string }
}

const STARTS: readonly [RegExp, (stores: Stores) => Promise<Started<object>>][] = [
  [/^s3$/, startS3],
  [/^chromium$/, startBrowser],
  [/^history$/, startHistory],
  [/^sample$/, startSample],
  [/^redis\/\w+$/, startRedis],
]

async function startS3(): Promise<Started<ServerAccess>> {
  const { access, stop } = await startS3Server()
  return { value: access, stop }
}

async function startBrowser(): Promise<Started<{ url: string }>> {
  const browser = await serveChromium()
  return { value: { url: browser.wsEndpoint() }, stop: () => browser.close() }
}

async function startRedis(): Promise<Started<{ url: string }>> {
  const { url, stop } = await startTestRedis()
  return { value: { url }, stop }
}

const ADDRESS = /^history service on (http:\/\/\S+)$/m

/** Longer than any run. */
const HUNG_MS = 24 * 3_600_000

async function startHistory(stores: Stores): Promise<Started<{ url: string }>> {
  const { url, end } = await startServing(stores, ['serve', 'history'])
  return { value: { url }, stop: end }
}

async function startSample(): Promise<Started<Sample>> {
  const store = pathToFileURL(join(tmpdir(), 'sample/store')).href
  const stores = { url: store, privateUrl: `${store}.private` }
  const { url, prints, printed, end } = await startServing(stores, ['run', '--history-only'])
  await prints(/Ctrl-C stops everything$/m) // its last line
  return { value: { url, printed: printed(), stores }, stop: end }
}

/** A service of these stores for the whole run. */
async function startServing({ url: STORE_URL, privateUrl }: Stores, args: readonly string[]) {
  const env = {
    ...{ PATH: process.env.PATH, STORE_URL, PRIVATE_STORE_URL: privateUrl, HISTORY_PORT: '0' },
    BUILD_EFFORT: 'quick', // of `run`: what is small is not what it shows
  }
  const command = [join(ROOT, 'cli/launcher.mjs'), ...args]
  const running = spawnProcess(process.execPath, command, { env, cwd: ROOT, hungMs: HUNG_MS })
  const [, url = ''] = await running.prints(ADDRESS)
  return { ...running, url }
}

/** Starts each thing once, however many ask for it. */
function createShelf(stores: Stores) {
  const started = new Map<string, Promise<Started<object>>>()
  const get = async (name: string): Promise<object> => {
    let one = started.get(name)
    if (one === undefined) {
      const [, start] = STARTS.find(([pattern]) => pattern.test(name)) ?? []
      if (start === undefined) throw new Error(`there is no ${name} to share`)
      one = start(stores)
      started.set(name, one)
    }
    return (await one).value
  }
  const stop = async (): Promise<void> => {
    const all = await Promise.allSettled(started.values())
    await Promise.all(all.map(one => (one.status === 'fulfilled' ? one.value.stop() : null)))
  }
  return { get, stop }
}

const MEMORY = '/dev/shm'

/** More than the folder of a run has at a time, and than a run needs beside it. */
const [FOLDER_BYTES, RUN_BYTES] = [4e9, 8e9]

/** Whether there is room in memory, and programs may be run there. */
function isMemoryFit(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8')
  if (!/^\S+ \/dev\/shm tmpfs rw(?!\S*noexec)/m.test(mounts)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize > FOLDER_BYTES && process.availableMemory() > FOLDER_BYTES + RUN_BYTES
}

const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 10 })

/** A new folder for all that the tests of this run write, in memory if that is fit. Those of runs that were killed are removed before. */
async function openFolder(): Promise<string> {
  for (const path of globSync(`{${MEMORY},${tmpdir()}}/highwater-run-*`)) {
    const isOver = !existsSync(`/proc/${path.split('-').at(-2)}`)
    if (isOver) await remove(path).catch(() => {}) // that of another user stays
  }
  const place = process.env.TMPDIR || (isMemoryFit() ? MEMORY : tmpdir())
  const folder = await mkdtemp(join(place, `highwater-run-${process.pid}-`))
  await chmod(folder, 0o755) // for tests that become another user
  return folder
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [folder, before = ''] = [await openFolder(), process.env.TMPDIR]
  process.env.TMPDIR = folder // of the tests and of what they start
  const url = pathToFileURL(join(folder, 'tiny/store')).href
  const stores = { url, privateUrl: `${url}.private` }
  await publishBook(TINY_BOOK, stores)
  const shelf = createShelf(stores)
  const server = createServer((request, response) => {
    response.setHeader('connection', 'close') // one that is kept may end while a busy test asks again
    shelf.get((request.url ?? '').slice(1)).then(
      value => response.end(JSON.stringify(value)),
      error => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a server that listens on a port has one
  project.provide('run', `http://127.0.0.1:${port}`)
  project.provide('tinyStore', stores)
  return async () => {
    server.closeAllConnections()
    server.close()
    await shelf.stop()
    process.env.TMPDIR = before
    await remove(folder)
  }
}
