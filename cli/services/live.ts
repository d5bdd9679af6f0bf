import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { toIsoInstant } from '#core/calendar.ts'
import { toPrice } from '#core/contract/rounding.ts'
import { type Bars, lastAtOrBefore, sliceBars } from '#core/replay/bars.ts'
import type { BarsFile, BarsKey, Book, StrategyEntry } from '#pipeline/book/book.ts'
import { createBarReader } from '#pipeline/book/read-bars.ts'
import { readBarsAnswer } from '#pipeline/import/bars.ts'
import type { Stepper } from '#pipeline/live/stepper.ts'
import { createKnownBars, type Feed, type KnownBars, openBarStore, revisedBars } from '#signals/live/bars.ts'
import { fileFeed, pollFeed, streamFeed } from '#signals/live/feeds.ts'
import { endLive, type MarketWorld, runMarket } from '#signals/live/run-market.ts'
import { type LiveStrategy, priceOf } from '#signals/live/signals-of.ts'
import { RedisDownError } from '#signals/redis/connect.ts'
import { type Lease, RENEW_MS, takeLease } from '#signals/redis/lease.ts'
import { messageOf, tolerate } from '#storage/error-code.ts'
import { type Holder, holderHere } from '#storage/lock.ts'
import { isAlive } from '#storage/open-store.ts'
import { UsageError } from '../runtime.ts'

type LiveOrder = {
  readonly book: Book
  readonly entries: ReadonlyMap<BarsKey, readonly StrategyEntry[]>
  /** By market; a market without one follows the book's own file. */
  readonly feeds: ReadonlyMap<string, string>
  readonly liveDir: string
}

type LiveRuntime = MarketWorld & {
  readonly stepper: Stepper
  readonly cwd: string
  readonly input: () => Readable
}

/**
 * Follows every market of a book until it is stopped or the feeds end, and ends what a strategy left that the catalogue
 * has ended since. A market that fails leaves the others running; what was wrong is thrown at the end.
 */
export async function runLive(order: LiveOrder, runtime: LiveRuntime): Promise<void> {
  const faults: unknown[] = []
  const attempt = (name: string, work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      runtime.note(`${name} stops: ${messageOf(error)}`)
      faults.push(error)
    })
  const ended = order.book.strategies.filter(entry => entry.ended !== null)
  await Promise.all([
    ...ended.map(({ id }) => attempt(id, endLive(runtime, id))),
    ...[...order.entries.keys()].map(market => attempt(market, followMarket(market, order, runtime))),
  ])
  if (faults.length > 0) throw faults[0]
}

async function followMarket(market: BarsKey, order: LiveOrder, runtime: LiveRuntime): Promise<void> {
  const { redis, now, note } = runtime
  const holder = holderHere(now())
  // Ran on this machine and has ended; processes on other machines cannot be checked.
  const isGone = ({ pid, host }: Holder): boolean => host === holder.host && !isAlive(pid)
  const lease = await takeLease(redis, market, holder, isGone)
  const stop = new AbortController()
  const own = { ...runtime, stop: AbortSignal.any([runtime.stop, stop.signal]) }
  const renewing = renewWhile(lease, own, stop)
  let lost: unknown = null
  try {
    await runStored(market, order, own)
  } finally {
    stop.abort()
    lost = await renewing
    await tolerate(lease.release(), `the lease of ${market} was not released; it expires`)
  }
  if (lost !== null) throw lost
  note(`${market}: stopped`)
}

/**
 * Renews the lease until the market is left, and returns null; or leaves the market and returns what ended the lease. An
 * unreachable Redis ends none: the cursor guards every commit, and the lease is taken again.
 */
async function renewWhile(lease: Lease, { pause, stop }: LiveRuntime, own: AbortController) {
  for (;;) {
    await pause(RENEW_MS, stop)
    if (stop.aborted) return null
    try {
      await lease.renew()
    } catch (error) {
      if (error instanceof RedisDownError) continue
      own.abort()
      return error
    }
  }
}

async function runStored(market: BarsKey, { book, entries, feeds, liveDir }: LiveOrder, own: LiveRuntime) {
  const { now, note, stepper } = own
  const file = book.bars.get(market)!
  const { bars, timeframe } = file
  const store = await openBarStore(join(liveDir, `${market}.csv`), () => createBarReader(timeframe))
  try {
    // A book may end with the bar that is being made: it is none until it has closed.
    const closed = sliceBars(bars, 0, lastAtOrBefore(bars.t, now() - bars.timeframeMs) + 1)
    const known = createKnownBars(closed, store.bars)
    const [revised] = revisedBars(bars, store.bars)
    if (revised !== undefined) {
      const at = toIsoInstant(revised.t)
      note(`${market}: the book has other prices than were traded on, first at ${at}; those stay`)
    }
    const feed = openFeed(feeds.get(market), book.dir, file, known, own)
    const strategies = await Promise.all(
      entries.get(market)!.map(entry => toLiveStrategy(stepper, entry, book, bars)),
    )
    note(`${market}: ${strategies.map(({ alias }) => alias).join(', ')} follow ${feed.name}`)
    for (const strategy of strategies) noteTick(strategy, known, note)
    await runMarket(own, { strategies, known, store, feed })
  } finally {
    await store.close()
  }
}

/** A tick that is not that of the instrument, such as the default, would move the prices of the signals. */
function noteTick({ alias, tickSize }: LiveStrategy, known: KnownBars, note: (line: string) => void): void {
  const last = known.last()
  if (last === null || priceOf(last.c, { tickSize }) === toPrice(last.c)) return
  note(
    `${alias}: the last close, ${last.c}, is not on the tick of ${tickSize}, to which its signals are rounded: correct tick_size in the catalogue`,
  )
}

/** The module strategies of a book that are to run, by the bars that they run on. */
export function liveEntries(book: Book, wanted: readonly string[]) {
  const all = book.strategies.filter(({ source }) => source.kind === 'module')
  const modules = all.filter(({ ended }) => ended === null)
  const known = modules.map(({ id }) => id)
  const unknown = wanted.filter(id => !known.includes(id))
  if (unknown.length > 0) {
    const got = unknown.join("', '")
    throw new UsageError(`--strategy: expected a module of the book (${known.join(', ')}), got '${got}'`)
  }
  const chosen = wanted.length === 0 ? modules : modules.filter(({ id }) => wanted.includes(id))
  if (all.length === 0)
    throw new UsageError(
      `the book in ${book.dir} has no module: a ledger is fired by POST /ops/signals, not live`,
    )
  return Map.groupBy(chosen, ({ bars }) => bars!) // a module has bars, or the book would not be sound
}

/** A strategy of a book as the runner sees it; its module runs in a process. */
async function toLiveStrategy(
  stepper: Stepper,
  entry: StrategyEntry,
  { funding }: Book,
  bars: Bars,
): Promise<LiveStrategy> {
  const own = { entry, funding: funding.get(entry.instrument) ?? null, bars }
  const version = await stepper.version(own)
  return {
    alias: entry.id,
    version,
    timeframeMs: bars.timeframeMs,
    baseRisk: entry.base_risk_pct,
    tickSize: entry.tick_size,
    catalogueMode: entry.mode,
    replay: async known => (await stepper.replay(own, known, Number.POSITIVE_INFINITY)).state,
    async step(state, bar) {
      const stepped = await stepper.step(own, state, bar)
      if (stepped.version === version) return stepped
      throw new Error(
        `${entry.id} became version ${stepped.version} while version ${version} runs: start the runner again`,
      )
    },
  }
}

/** `BTCUSDT-PERP/4h=file:bars.csv`: the feed of a market, which may be omitted if there is only one. */
export function parseFeeds(given: readonly string[], markets: readonly BarsKey[]) {
  const feeds = new Map<string, string>()
  for (const text of given) {
    const named = markets.find(name => text.startsWith(`${name}=`))
    const market = named ?? (markets.length === 1 ? markets[0] : undefined)
    if (market === undefined)
      throw new UsageError(
        `--feed: the strategies run on ${markets.join(' and ')}; write MARKET=SOURCE for each, got '${text}'`,
      )
    if (feeds.has(market))
      throw new UsageError(`--feed: expected one feed of ${market}, got a second: '${text}'`)
    feeds.set(market, named === undefined ? text : text.slice(named.length + 1))
  }
  if ([...feeds.values()].filter(source => source === '-').length > 1)
    throw new UsageError('--feed: standard input can be the feed of one market only')
  return feeds
}

/** Opens the feed of a market; the default is the file of the book, which grows. */
function openFeed(
  source: string | undefined,
  bookDir: string,
  file: BarsFile,
  known: KnownBars,
  { now, pause, note, cwd, input }: LiveRuntime,
): Feed {
  const newReader = () => createBarReader(file.timeframe)
  if (source === undefined) {
    if (/^bars\/[^/]+\/[^/]+\.csv$/.test(file.path))
      return fileFeed(join(bookDir, file.path), newReader, pause)
    throw new UsageError(
      `--feed: ${file.path} cannot grow, because it is no plain table of the book: set --feed to a source of new bars`,
    )
  }
  if (source === '-') return streamFeed('standard input', input(), newReader)
  if (source.startsWith('file:')) {
    const path = source.slice('file:'.length).replace(/^\/\/(?=\/)/, '') // of `file:///srv/bars.csv`, too
    return fileFeed(resolve(cwd, path), newReader, pause)
  }
  if (/^https?:\/\//.test(source) && URL.canParse(source)) {
    const lastKnown = () => known.last()?.t ?? null
    const readAnswer = (answer: Buffer) => readBarsAnswer(answer, file.timeframe, now())
    return pollFeed({ url: source, timeframeMs: known.timeframeMs, readAnswer, now, pause, note, lastKnown })
  }
  throw new UsageError(`--feed: expected file:PATH, - or an http(s) address, got '${source}'`)
}
