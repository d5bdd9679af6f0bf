// Pinned beside unpinned static answers of the tier: one server, one client on a thread of its own, short rounds in
// turns, so that whatever else the machine does falls on both. Run: node bench/pinned.ts > bench/results/pinned.md
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { cpus } from 'node:os'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { createComputedAnswers } from '#api/history/answers/computed-answers.ts'
import { createPublishedAnswers } from '#api/history/answers/published-answers.ts'
import { createHistoryApp } from '#api/history/app.ts'
import { createPinnedVersions } from '#api/history/pinned-versions.ts'
import { createStoredFiles } from '#api/history/stored-files.ts'
import { createVersionSource } from '#api/history/version-source.ts'
import { type RunningServer, startServer } from '#api/http/http-server.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { FIRST_VERSION, openBothVersions, pointTo, SECOND_VERSION } from '#test/support/books/small-book.ts'
import { SETTINGS } from '#test/support/history/history-app.ts'
import { median } from './harness/load.ts'

const CONNECTIONS = 16
const ROUND_MS = 250
const ROUNDS = 40
const WARM_UP_ROUNDS = 4

const PATHS = [
  '/v1/strategies',
  '/v1/export',
  '/v1/strategies/alder/returns?format=csv',
  '/v1/strategies/alder/stats',
]

type Kind = 'unpinned' | 'pinned, served version' | 'pinned, older version'

const KINDS: { readonly [K in Kind]: (path: string) => string } = {
  unpinned: path => path,
  'pinned, served version': path => pinnedPath(SECOND_VERSION, path),
  'pinned, older version': path => pinnedPath(FIRST_VERSION, path),
}

const NAMES = Object.keys(KINDS) as Kind[] // keyof of the literal above

async function measure(): Promise<void> {
  const server = await startTier()
  const client = new Worker(new URL(import.meta.url))
  const rounds: Record<Kind, Round[]> = {
    unpinned: [],
    'pinned, served version': [],
    'pinned, older version': [],
  }
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    // Each round begins with another kind: none is always the first after a pause.
    for (let i = 0; i < NAMES.length; i++) {
      const kind = NAMES[(round + i) % NAMES.length]!
      const played = await playRound(
        client,
        PATHS.map(path => server.url + KINDS[kind](path)),
      )
      if (round >= WARM_UP_ROUNDS) rounds[kind].push(played)
    }
  }
  await client.terminate()
  await server.close()
  console.log(report(rounds))
}

async function startTier(): Promise<RunningServer> {
  const stores = await openBothVersions()
  await pointTo(stores, SECOND_VERSION)
  const { store, privateStore } = stores
  const source = createVersionSource(store, privateStore)
  await source.refresh()
  const fail = (error: unknown): never => {
    throw error
  }
  const published = createPublishedAnswers(store, fail)
  const app = createHistoryApp({
    source,
    published,
    computed: createComputedAnswers(),
    pinned: createPinnedVersions(source, store, privateStore, fail),
    files: createStoredFiles(store, source.history),
    settings: SETTINGS,
    clock: { now: () => Date.now(), elapsed: () => performance.now() },
    isDraining: () => false,
    newRequestId: () => 'bench',
    onAnswered: () => {},
    onError: fail,
  })
  return startServer(() => app.fetch, '127.0.0.1', 0)
}

/** What a round tells: requests a second, and the processor time of the server's thread for one of them. */
type Round = { readonly rate: number; readonly cpuUs: number }

async function playRound(client: Worker, urls: readonly string[]): Promise<Round> {
  const before = process.threadCpuUsage()
  client.postMessage(urls)
  const [{ done, rate }] = await once(client, 'message')
  const { user, system } = process.threadCpuUsage(before)
  return { rate, cpuUs: (user + system) / done }
}

/** The client: for a round asks the addresses in turns over connections that stay open, and tells requests a second. */
function serveRounds(): void {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  parentPort?.on('message', async (urls: readonly string[]) => {
    const begin = performance.now()
    let done = 0
    const ask = async (start: number): Promise<void> => {
      for (let i = start; performance.now() - begin < ROUND_MS; i++) {
        await request(agent, urls[i % urls.length]!)
        done++
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, i) => ask(i)))
    parentPort?.postMessage({ done, rate: done / ((performance.now() - begin) / 1000) })
  })
}

const request = (agent: Agent, url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, { agent, headers: { 'accept-encoding': 'br' } }, answer => {
      if (answer.statusCode !== 200) reject(new Error(`${url} answered ${answer.statusCode}`))
      answer.resume().once('end', resolve).once('error', reject)
    }).once('error', reject)
  })

function report(rounds: Readonly<Record<Kind, readonly Round[]>>): string {
  const rows = NAMES.map(kind => {
    const rate = median(rounds[kind].map(round => round.rate))
    const cpuUs = median(rounds[kind].map(round => round.cpuUs))
    // Against the unpinned round beside it, not against the mean of all: what disturbs one disturbs its neighbour.
    const ratio = median(rounds[kind].map((round, i) => rounds.unpinned[i]!.cpuUs / round.cpuUs))
    return `| ${kind} | ${Math.round(rate)} | ${cpuUs.toFixed(0)} | ${(ratio * 100).toFixed(1)} % |`
  })
  return [
    '# Pinned and unpinned static answers of the tier',
    '',
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}.`,
    `\`node bench/pinned.ts\`: ${PATHS.length} addresses as br over ${CONNECTIONS} connections, client on a thread of the`,
    `same process, ${ROUNDS} rounds of ${ROUND_MS} ms each in turns; medians.`,
    '',
    'Requests a second are those that the machine had time for, beside whatever else it did; the processor time of the',
    "server's thread for a request is what the answer costs. Speed is the latter, against the unpinned round beside it.",
    '',
    '| Answers | Requests a second | Processor time, us | Speed |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n')
}

if (isMainThread) await measure()
else serveRounds()
