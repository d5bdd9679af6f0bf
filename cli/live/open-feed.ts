import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { BarsFile, BarsKey } from '#pipeline/book/book.ts'
import { createBarReader } from '#pipeline/book/read-bars.ts'
import type { Feed, Pause } from '#signals/live/feeds/feed.ts'
import { fileFeed, streamFeed } from '#signals/live/feeds/file-feed.ts'
import { pollFeed } from '#signals/live/feeds/poll-feed.ts'
import type { KnownBars } from '#signals/live/known-bars.ts'
import { UsageError } from '../usage-error.ts'

/** What a feed gets of the world. */
export type FeedWorld = {
  readonly cwd: string
  readonly now: () => number
  readonly pause: Pause
  readonly note: (line: string) => void
  /** Standard input, where a feed comes through it. */
  readonly input: () => Readable
}

/** `BTCUSDT-PERP/4h=file:bars.csv`: where the bars of a market come from; without a market where there is only one. */
export function parseFeeds(
  given: readonly string[],
  markets: readonly BarsKey[],
): ReadonlyMap<string, string> {
  const feeds = new Map<string, string>()
  for (const text of given) {
    const market =
      markets.find(name => text.startsWith(`${name}=`)) ?? (markets.length === 1 ? markets[0] : null)
    if (market === null || market === undefined) {
      throw new UsageError(
        `--feed: the strategies run on ${markets.join(' and ')}; write MARKET=SOURCE for each, got '${text}'`,
      )
    }
    if (feeds.has(market))
      throw new UsageError(`--feed: expected one feed of ${market}, got a second: '${text}'`)
    feeds.set(market, text.startsWith(`${market}=`) ? text.slice(market.length + 1) : text)
  }
  if ([...feeds.values()].filter(source => source === '-').length > 1) {
    throw new UsageError('--feed: standard input can be the feed of one market only')
  }
  return feeds
}

/** Opens the feed of a market; where none is named it is the book's own file, which grows. */
export function openFeed(
  source: string | undefined,
  bookDir: string,
  file: BarsFile,
  known: KnownBars,
  world: FeedWorld,
): Feed {
  const { now, pause, note } = world
  const newReader = () => createBarReader(file.timeframe)
  if (source === undefined) return fileFeed(ownFile(bookDir, file), newReader, pause)
  if (source === '-') return streamFeed('standard input', world.input(), newReader)
  if (source.startsWith('file:')) return fileFeed(resolve(world.cwd, filePath(source)), newReader, pause)
  if (/^https?:\/\//.test(source) && URL.canParse(source)) {
    const lastKnown = () => known.last()?.t ?? null
    return pollFeed({ url: source, timeframeMs: known.timeframeMs, newReader, now, pause, note, lastKnown })
  }
  throw new UsageError(`--feed: expected file:PATH, - or an http(s) address, got '${source}'`)
}

/** `file:bars.csv` and `file:///srv/bars.csv` alike. */
const filePath = (source: string): string => source.slice('file:'.length).replace(/^\/\/(?=\/)/, '')

function ownFile(bookDir: string, { path }: BarsFile): string {
  if (!path.endsWith('.gz')) return join(bookDir, path)
  throw new UsageError(`--feed: ${path} cannot grow, because it is compressed: name where new bars come from`)
}
