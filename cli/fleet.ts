// The fleet of a build: which code it has, its Redis, and its run.
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { toCompactInstant } from '#core/calendar.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { type Fleet, renderOnFleet } from '#static-build/fleet/coordinate.ts'
import { createJobs } from '#static-build/fleet/queue.ts'
import { endRun } from '#static-build/fleet/run-files.ts'
import { createRenderer, type RenderOrder } from '#static-build/render-version.ts'
import { sha256 } from '#storage/digest.ts'
import { messageOf } from '#storage/error-code.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import type { FleetOrder, FleetRecord } from './fleet-options.ts'
import type { Runtime } from './runtime.ts'
import { passwordsIn } from './signals/redis-url.ts'

/** The name of this process in reports. */
export const workerName = (): string => `${hostname()}:${process.pid}`

/** What a build does with its fleet. */
export type OpenFleet = Awaited<ReturnType<typeof openFleet>>

/** Connects to the Redis of a fleet, if it has one. Rejects if it does not answer. */
export async function openFleet(
  { run, redisUrl, waitMs }: FleetOrder,
  { version, threads }: { readonly version: string; readonly threads: number },
  runtime: Runtime,
) {
  const { root, elapsed, pause, terminal } = runtime
  const code = await fleetCode(root)
  const name = run ?? toCompactInstant(version)
  const connection = redisUrl === null ? null : await connectFleet(redisUrl, 'coordinator')
  const queue = connection === null ? null : createJobs(connection, code, terminal.note)
  await queue?.begin(name)
  let workers: Readonly<Record<string, number>> = {}
  const fleet: Fleet = {
    run: name,
    code,
    name: workerName(),
    renderer: createRenderer(threads),
    jobs: queue?.jobs ?? null,
    waitMs,
    elapsed,
    pause,
    note: terminal.note,
    finished: counts => {
      workers = counts
      const texts = Object.entries(counts).map(([worker, count]) => `${worker} (${count})`)
      terminal.note(`note: rendered by ${texts.join(', ')}`)
    },
  }
  terminal.note(`note: run ${name} of code ${code} waits for workers`)
  return {
    render: (order: RenderOrder) => renderOnFleet(fleet, order),
    /** Ends the run, and returns its record for the report of the build. */
    async end(privateStore: ObjectStore): Promise<FleetRecord> {
      await endRun(privateStore, name, version).catch((error: unknown) =>
        terminal.note(
          `warning: files of the run ${name} are left in the private store, for prune: ${messageOf(error)}`,
        ),
      )
      return { run: name, code, workers }
    },
    async close(): Promise<void> {
      await fleet.renderer.close()
      await queue?.close()
      connection?.disconnect()
    },
  }
}

/**
 * Connects to the Redis of a fleet: a worker waits for it if it goes away, a coordinator goes on without it. Rejects with
 * the fix if it does not answer now.
 */
export async function connectFleet(redisUrl: string, role: 'coordinator' | 'worker'): Promise<Redis> {
  // BullMQ waits for jobs in one command, which takes as long as there are none.
  const redis =
    role === 'coordinator'
      ? connectRedis(redisUrl, () => {}) // every command reports its own error
      : new Redis(redisUrl, { maxRetriesPerRequest: null, lazyConnect: true }).on('error', () => {})
  try {
    await redis.connect()
    return redis
  } catch (cause) {
    redis.disconnect()
    const shown = passwordsIn(redisUrl).reduce(
      (url, secret) => (secret ? url.replaceAll(secret, '***') : url),
      redisUrl,
    )
    throw new Error(
      `the Redis of the fleet, ${shown}, does not answer: start it, or correct --fleet or FLEET_URL`,
      { cause },
    )
  }
}

/** What decides the bytes of a file, below the folder of the project. */
const SOURCES = '{core,pages,static-build,storage}/**/*.{ts,js,css}'

/**
 * A digest that is equal if the same sources, packages, Node, compressors and architecture render: processes of equal code
 * make equal bytes.
 */
export async function fleetCode(root: string): Promise<string> {
  const paths = [...globSync(SOURCES, { cwd: root }), 'package-lock.json'].sort()
  const files = await Promise.all(paths.map(async path => [path, sha256(await readFile(join(root, path)))]))
  const runs = [...RUN_BY.map(name => process.versions[name]), process.arch]
  const text = JSON.stringify({ files, runs })
  return sha256(new TextEncoder().encode(text)).slice(0, CODE_DIGITS)
}

const CODE_DIGITS = 16
const RUN_BY = ['node', 'zlib', 'brotli'] as const
