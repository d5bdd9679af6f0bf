import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseIsoInstant, toIsoInstant } from '#core/calendar.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import type { Book } from '#pipeline/book/book.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { computeSnapshot } from '#pipeline/night/compute-snapshot.ts'
import { examineBook } from '#pipeline/night/examine-book.ts'
import { readPublishedSnapshot } from '#static-build/compare-with-published.ts'
import { declareAll } from '#static-build/declarations.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import { messageOf } from '#storage/error-code.ts'
import { privateTwin } from '#storage/open-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { describeCode } from '../build/describe-code.ts'
import { BOOK_OPTIONS, toBookOrder } from '../options/build-options.ts'
import { define, flag, type OptionsOf, option } from '../options/command.ts'
import { openStores, readSettings, STORE_OPTIONS } from '../options/store-option.ts'
import { toTable } from '../print/terminal.ts'
import { type Runtime, UsageError } from '../runtime.ts'
import { serveHistory } from '../services/serve-history.ts'
import { createStarted, type Started } from '../services/started.ts'
import { type Environment, port } from '../settings/environment.ts'

const ABOUT = `
Computes a book, or one strategy of it, as a build would, and prints its figures beside those that are published. Then it
serves the same answers on a local port until it is stopped, from stores in a temporary folder that is removed at the end.
The published stores are only read. With --watch it does so again after every change of a file of the book.

Examples:
  highwater preview --book ./book
  highwater preview --book ./book --watch oak`

const OPTIONS = {
  ...BOOK_OPTIONS,
  ...STORE_OPTIONS,
  watch: flag('compute again after every change of the book'),
  port: option('<n>', 'the port to serve on (default: a free one)', port),
}

export const definePreview = define(OPTIONS, ABOUT, run, {
  '[strategy]': 'the id of one strategy (default: all)',
})

async function run(options: OptionsOf<typeof OPTIONS>, runtime: Runtime, strategy: string | null = null) {
  const order = toBookOrder(options, runtime)
  const settings = readSettings(options, runtime)
  const published = await readPublished(settings, runtime)
  const stopped = runtime.untilStopped()
  const started = createStarted()
  try {
    const publish = await createThrowaway({ ...settings, HISTORY_PORT: options.port ?? 0 }, runtime, started)
    const show = async (): Promise<void> => {
      const since = runtime.elapsed()
      const shown = await compute(strategy, order, runtime)
      const seconds = ((runtime.elapsed() - since) / 1000).toFixed(1)
      for (const line of previewLines(published, shown.snapshot, seconds)) runtime.terminal.print(line)
      for (const notice of shown.notices) runtime.terminal.note(`note: ${notice}`)
      await publish(shown)
    }
    if (options.watch) return await showEachChange(order.book, show, stopped, runtime)
    await show()
    await stopped
  } finally {
    await started.endAll()
  }
}

/** The served snapshot; null if nothing is published, or if it cannot be read, which is noted. */
async function readPublished(settings: Environment, runtime: Runtime): Promise<Snapshot | null> {
  try {
    const stores = await openStores(settings)
    const head = await readHead(stores.store)
    return head && (await readPublishedSnapshot(stores, head.entry))
  } catch (error) {
    runtime.terminal.note(`no published figures to compare with: ${messageOf(error)}`)
    return null
  }
}

type Shown = Awaited<ReturnType<typeof compute>>

async function compute(strategy: string | null, order: ReturnType<typeof toBookOrder>, runtime: Runtime) {
  const { terminal, now, elapsed } = runtime
  const window = { ...order, nowMs: now() }
  const book = await readBook(order.book, examineBook(window))
  const part = strategy === null ? book : onlyOf(book, strategy)
  const version = toIsoInstant(now())
  return computeSnapshot(part, { ...window, version, progress: terminal.progress, elapsedMs: elapsed })
}

function onlyOf(book: Book, id: string): Book {
  const strategies = book.strategies.filter(entry => entry.id === id)
  if (strategies.length > 0) return { ...book, strategies, program: null }
  throw new UsageError(
    `the book has no strategy '${id}'; it has ${book.strategies.map(entry => entry.id).join(', ')}`,
  )
}

/** Publishes into stores of its own, which end with the command, and serves them. Versions are a second apart at least. */
async function createThrowaway(settings: Environment, runtime: Runtime, started: Started) {
  const folder = await mkdtemp(join(tmpdir(), 'highwater-preview-'))
  started.add(() => rm(folder, { recursive: true, force: true }))
  const STORE_URL = pathToFileURL(join(folder, 'store')).href
  const environment = {
    ...settings,
    STORE_URL,
    PRIVATE_STORE_URL: privateTwin(STORE_URL),
    PUBLIC_BASE_URL: null,
    // Neither the alerts nor the port for metrics of the service that runs beside it.
    ALERT_URL: null,
    ALERT_COMMAND: null,
    ADMIN_PORT: 0,
  }
  const { store, privateStore } = await openStores(environment)
  const builtWith = await describeCode(runtime.root)
  let service: Awaited<ReturnType<typeof serveHistory>> | null = null
  let lastMs = 0
  return async ({ snapshot, program }: Shown): Promise<void> => {
    lastMs = Math.max(parseIsoInstant(snapshot.dataset.version)!, lastMs + 1000)
    const version = toIsoInstant(lastMs)
    await publishVersion({
      ...{ store, privateStore, builtWith, program, signer: null, inputs: {}, effort: 'quick' },
      ...{ snapshot: { ...snapshot, dataset: { ...snapshot.dataset, version } } },
      declared: declareAll('a preview'),
      ...{ threads: runtime.cores, progress: () => {}, now: runtime.now },
    })
    if (service !== null) return service.look()
    service = await serveHistory(environment, runtime, () => {})
    started.add(service.stop)
    runtime.terminal.print(`the same answers on ${service.url}, such as ${service.url}/v1/summary`)
  }
}

/** An editor writes a file in several steps. */
const SETTLE_MS = 50
const LOOK_MS = 200

/**
 * Shows now and after each change until it is stopped; a failure is noted, and the next change is waited for. Files are
 * compared by time and size: notifications of the system stop for a file that an editor replaces.
 */
async function showEachChange(
  book: string,
  show: () => Promise<void>,
  stopped: Promise<void>,
  { terminal, pause }: Runtime,
): Promise<void> {
  let isStopped = false
  void stopped.then(() => {
    isStopped = true
  })
  for (let seen: string | null = null; !isStopped; await pause(LOOK_MS)) {
    if ((await stateOf(book)) === seen) continue
    await pause(SETTLE_MS)
    seen = await stateOf(book)
    await show().catch((error: unknown) => terminal.note(messageOf(error)))
  }
}

async function stateOf(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const states = names.map(async name => {
    const file = await stat(join(folder, name)).catch(() => null) // gone since
    return `${name} ${file?.mtimeMs} ${file?.size}`
  })
  return (await Promise.all(states)).join('\n')
}

const FIGURES = [
  ['net %', 'net_return_pct'],
  ['CAGR %', 'cagr_pct'],
  ['drawdown %', 'max_drawdown_pct'],
  ['Sharpe', 'sharpe_daily_annualized'],
  ['trades', 'trade_count'],
] as const

/** A line a strategy; a figure that differs from the published one is shown with it. */
function previewLines(published: Snapshot | null, { strategies }: Snapshot, seconds: string): string[] {
  const old = new Map(published?.strategies.map(strategy => [strategy.id, strategy]))
  const against =
    published === null ? 'nothing published to compare with' : `published ${published.dataset.version} -> now`
  const names = FIGURES.map(([name]) => name)
  const rows = strategies.map(strategy => [strategy.id, ...cellsOf(old.get(strategy.id), strategy)])
  return [`${against} (${seconds} s)`, ...toTable([['strategy', ...names], ...rows], 18, 20)]
}

const cellsOf = (old: StrategyData | undefined, now: StrategyData): string[] =>
  FIGURES.map(([, name]) => {
    const [before, after] = [spell(old?.figures.values[name]), spell(now.figures.values[name])]
    return old === undefined || before === after ? after : `${before} -> ${after}`
  })

const spell = (value: unknown): string =>
  typeof value === 'number' ? (Number.isInteger(value) ? String(value) : value.toFixed(2)) : '-'
