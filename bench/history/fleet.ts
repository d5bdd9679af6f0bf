// A book of thousands of reported returns: built by one machine and by fleets on the same cores, and served while versions change.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { freePort } from '#cli/services/free-port.ts'
import { startLocalServer } from '#cli/services/local-server.ts'
import { toCompactInstant } from '#core/calendar.ts'
import { versionFolder } from '#core/contract/artifacts.ts'
import { openStore } from '#storage/open-store.ts'
import type { Ground } from '../harness/ground.ts'
import { type Load, load, writeLevels } from '../harness/load.ts'
import { ROOT, runProgram } from '../harness/programs.ts'
import { type Figure, plain, type Section } from '../harness/report.ts'
import { REPORTED_AS_OF, reportedId, writeReturnsBook } from '../harness/returns-book.ts'
import { type PinnedServer, peakMib, processorSeconds, startTier } from '../harness/servers.ts'

/** `BENCH_BOOKS=10000` measures what `docs/fleet.md` states of larger books, and takes most of an hour. */
const STRATEGIES = Number(process.env.BENCH_BOOKS ?? 1_000)
const DAYS = Number(process.env.BENCH_DAYS ?? 1_096)
const COMMAND = join(ROOT, 'cli/highwater.ts')

/** Workers of each build, and the version that it publishes. */
const BUILDS = [
  { workers: 0, version: '2026-07-01T00:15:00Z' },
  { workers: 2, version: '2026-07-02T00:15:00Z' },
  { workers: 4, version: '2026-07-03T00:15:00Z' },
]
const [FIRST, , LAST] = BUILDS

/** A version is swapped after this time, in a round that is much longer than the swap. */
const BEFORE_SWAP_MS = 5_000
const ROUND_S = 60
const CONNECTIONS = 8

export async function measureFleet({ folder, stops }: Ground): Promise<Section> {
  const book = join(folder, 'returns')
  await writeReturnsBook(book, STRATEGIES, DAYS)
  const redis = await startLocalServer(join(ROOT, 'deploy/servers/redis-server.sh'), [
    ...[join(ROOT, '.servers/redis'), join(folder, 'redis'), String(await freePort())],
  ])
  stops.push(redis.stop)
  const store = join(folder, 'store')
  const figures: Figure[] = []
  for (const { workers, version } of BUILDS) {
    const built = await build({ book, store, version, workers, redisUrl: redis.url })
    figures.push(...figuresOf(workers === 0 ? 'one process' : `${workers} workers`, built))
  }
  figures.push(...(await sizesOf(store)), ...(await measureSwaps(folder, store, stops)))
  return {
    title: 'A large book on a fleet',
    about:
      `${STRATEGIES} strategies of reported returns over ${DAYS} days with \`--effort quick\`, built by one process with a ` +
      'thread a core, then by a coordinator and two and four workers with one thread each, Redis between them, all on this ' +
      'machine: what a fleet costs, not what it gains. Then one tier serves the book, and a rollback moves it from one version to another while ' +
      `${CONNECTIONS} connections ask for statistics at another risk level each time.`,
    figures,
  }
}

type Order = {
  readonly book: string
  readonly store: string
  readonly version: string
  readonly workers: number
  readonly redisUrl: string
}

type Usage = { readonly peakMib: number; readonly processorSeconds: number }

type Built = {
  readonly seconds: number
  readonly timings: Readonly<Record<string, number>>
  readonly build: Usage
  readonly workers: readonly Usage[]
}

const timed = z.object({ timings_ms: z.record(z.string(), z.number()) })

/** Builds a version in a process of its own, beside worker processes that end with it. */
async function build({ book, store, version, workers: count, redisUrl }: Order): Promise<Built> {
  const stores = ['--store', pathToFileURL(store).href]
  const fleet = count === 0 ? [] : ['--fleet', redisUrl, '--threads', '1']
  const workers = Array.from({ length: count }, () =>
    watch(start(['worker', ...stores, '--fleet', redisUrl, '--threads', '1'])),
  )
  const began = performance.now()
  const child = start([
    ...['build', '--json', '--book', book, ...stores, '--effort', 'quick', ...fleet],
    ...['--version', version, '--as-of', REPORTED_AS_OF],
  ])
  const watched = watch(child)
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const usage = await watched.ended
  if (child.exitCode !== 0) throw new Error(`the build of ${version} ended with ${child.exitCode}`)
  const seconds = (performance.now() - began) / 1_000
  for (const { child: worker } of workers) worker.kill('SIGTERM')
  return {
    seconds,
    timings: timed.parse(JSON.parse(printed)).timings_ms,
    build: usage,
    workers: await Promise.all(workers.map(({ ended }) => ended)),
  }
}

const start = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })

const LOOK_MS = 250

/** Looks at a process until it ends; the kernel keeps the peak and the sum. */
function watch(child: ChildProcess) {
  child.stdout?.resume()
  let usage: Usage = { peakMib: 0, processorSeconds: 0 }
  const look = setInterval(() => {
    const pid = child.pid ?? 0
    Promise.all([peakMib(pid), processorSeconds(pid)]).then(
      ([mib, seconds]) => {
        if (!Number.isNaN(mib)) usage = { peakMib: mib, processorSeconds: seconds } // none if it is about to end
      },
      () => {}, // it has ended
    )
  }, LOOK_MS)
  const ended = once(child, 'close').then(() => {
    clearInterval(look)
    return usage
  })
  return { child, ended }
}

function figuresOf(name: string, { seconds, timings, build: used, workers }: Built): Figure[] {
  const steps = Object.entries(timings).map(([step, ms]) => `${step} ${Math.round(ms / 1_000)} s`)
  const figures = [
    plain(`${name}: time`, seconds, 's'),
    { what: `${name}: steps`, reached: steps.join(', ') },
    plain(`${name}: processor time of the build`, used.processorSeconds, 's'),
    plain(`${name}: most memory of the build`, used.peakMib, 'MiB'),
  ]
  if (workers.length === 0) return figures
  const sum = workers.reduce((total, each) => total + each.processorSeconds, 0)
  return [
    ...figures,
    plain(`${name}: processor time of the workers`, sum, 's'),
    plain(`${name}: most memory of a worker`, Math.max(...workers.map(each => each.peakMib)), 'MiB'),
  ]
}

/** What the last version takes in the store. */
async function sizesOf(folder: string): Promise<Figure[]> {
  const store = await openStore(pathToFileURL(folder).href)
  const version = versionFolder(LAST!.version)
  let [files, bytes] = [0, 0]
  for (const key of await store.list(`${version}/`)) {
    files++
    bytes += (await stat(join(folder, key))).size
  }
  const sizeOf = async (path: string) => (await stat(path)).size / 2 ** 20
  const own = join(`${folder}.private`, toCompactInstant(LAST!.version))
  return [
    plain('the version: files', files, 'files'),
    plain('the version: size', bytes / 2 ** 20, 'MiB'),
    plain('manifest.json', await sizeOf(join(folder, version, 'manifest.json')), 'MiB'),
    plain('datapackage.json', await sizeOf(join(folder, version, 'datapackage.json')), 'MiB'),
    plain('correlation.daily.json', await sizeOf(join(folder, version, 'correlation.daily.json')), 'MiB'),
    plain('the private snapshot', await sizeOfFolder(own), 'MiB'),
  ]
}

async function sizeOfFolder(folder: string): Promise<number> {
  const printed = await runProgram('du', ['-sm', folder])
  return Number.parseInt(printed, 10)
}

async function measureSwaps(folder: string, store: string, stops: Ground['stops']): Promise<Figure[]> {
  const url = pathToFileURL(store).href
  const began = performance.now()
  const tier = await startTier(url)
  stops.push(tier.stop)
  const readyS = (performance.now() - began) / 1_000
  const loaded = await peakMib(tier.pid)
  const path = `/v1/strategies/${reportedId(0)}/stats?risk_pct=`
  const script = await writeLevels(join(folder, 'levels.lua'), `${path}LEVEL`)
  const order: Load = {
    ...{ server: tier, path: `${path}0.011`, script, seconds: ROUND_S, connections: CONNECTIONS },
    headers: { 'accept-encoding': 'identity' },
  }
  await load({ ...order, seconds: 5 }) // until everything is compiled
  const still = await load(order)
  const loading = load(order)
  await pause(BEFORE_SWAP_MS)
  await runProgram(process.execPath, [COMMAND, 'rollback', FIRST!.version, '--store', url])
  const swapS = await untilServed(tier, FIRST!.version)
  const swapping = await loading
  return [
    plain('the tier: from its start to its first answer', readyS, 's'),
    plain('the tier: memory of one version', loaded, 'MiB'),
    plain('the tier: from the end of the rollback to the other version', swapS, 's'),
    plain('the tier: most memory, with a swap', await peakMib(tier.pid), 'MiB'),
    plain('p99 of an answer, no swap', still.p99Ms, 'ms'),
    plain(`p99 of an answer in ${ROUND_S} s with a swap`, swapping.p99Ms, 'ms'),
    plain('answers a second, no swap', still.perSecond, 'a second'),
    plain('answers a second, with a swap', swapping.perSecond, 'a second'),
  ]
}

/** Seconds until a tier serves a version. */
async function untilServed({ url }: PinnedServer, version: string): Promise<number> {
  const began = performance.now()
  for (;;) {
    const text = await (await fetch(`${url}/version`)).text()
    if (text.includes(version)) return (performance.now() - began) / 1_000
    if (performance.now() - began > ROUND_S * 1_000)
      throw new Error(`${version} was not served in ${ROUND_S} s`)
    await pause(100)
  }
}
