// `highwater live` as a process that follows a growing feed, and is killed at random: a few seeds in the suite, as many as
// you like in `make soak`.
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import type { SignalContent } from '#core/contract/signal.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { signalsOf } from '#signals/live/signals-of.ts'
import { liveKey } from '#signals/redis/keys.ts'
import { handBars, type Ohlc, slot } from '../../core/replay/hand.ts'
import { aModule, catalogue, csv } from '../../pipeline/night/night-book.ts'
import { logged, reportsOf } from '../../signals/live/live-kit.ts'
import { startHighwater } from '../history/highwater-process.ts'
import { startKillable } from '../kills/killable.ts'
import { playRound, type Round, type Strike } from '../kills/play-round.ts'
import { sharedRedis } from '../servers/use-redis.ts'
import { temporaryFolder, writeFiles } from '../temporary-folder.ts'
import { until } from './delivery.ts'

/** The Redis that the runners write to, and a connection of the test. */
export type LiveRedis = { readonly url: string; readonly redis: Redis }

/** The arguments and the environment of a runner, which has a data folder of its own. */
export const liveCommand = ({ url }: LiveRedis, { book, feed, folder }: LiveBook) => ({
  args: ['live', '--allow-unpublished', '--book', book, '--feed', `file:${feed}`],
  env: { REDIS_URL: url, DATA_FOLDER: folder },
})

export const cursorOf = async ({ redis }: LiveRedis, { alias }: LiveBook): Promise<number> =>
  Number(await redis.hget(liveKey(alias), 'cursor'))

const firedBy = async ({ redis }: LiveRedis, { alias }: LiveBook) =>
  (await logged(redis)).filter(signal => signal.alias === alias)

/** Every bar closed long ago, so all of them are late. */
export async function expectAll(server: LiveRedis, own: LiveBook): Promise<void> {
  const fired = (await firedBy(server, own)).map(({ seq, schema_version, ...rest }) => rest)
  expect(fired).toEqual(own.expected.map(signal => ({ ...signal, mode: 'DRY_RUN' })))
}

const BARS = 60

/** A runner is killed, and started again, when this share of the feed has been written. */
const KILLED_AT = [0.4, 0.8]

/** Rounds of runners that are killed at instants that the seed decides: everything is fired once. */
export async function openKilledRunners(): Promise<(seed: number) => Promise<number>> {
  const { url, connect } = await sharedRedis()
  const redis = await connect()
  await redis.flushall()
  return async seed => playRound(await runnerRound({ url, redis }, seed))
}

async function runnerRound(server: LiveRedis, seed: number): Promise<Round> {
  const own = await liveBook(seed, BARS)
  const { uniform } = createRandom(1_000 + seed)
  const { args, env } = liveCommand(server, own)
  const runner = await startKillable(() => startHighwater(args, { env }), /follow/)
  const untilOf = (holds: () => Promise<boolean>): Promise<void> =>
    until(() => {
      if (runner.crashes.length > 0) throw new Error(runner.crashes[0])
      return holds()
    })
  let written = 0
  const write = async (count: number) => {
    const lines = own.lines.slice(written, written + count)
    written += lines.length
    for (const line of lines) await appendFile(own.feed, `${line}\n`)
  }
  const strikeAt = (share: number): Strike => ({
    name: `killed at ${share} of the feed`,
    async hit() {
      await untilOf(async () => (await cursorOf(server, own)) > 0)
      const before = (await firedBy(server, own)).length
      await write(Math.floor(BARS * share) - written)
      const more = Math.floor(uniform() * 6)
      await untilOf(async () => (await firedBy(server, own)).length >= before + more)
      await runner.kill()
      await runner.start()
      return true
    },
  })
  return {
    strikes: KILLED_AT.map(share => [strikeAt(share)]),
    async finish() {
      await write(BARS)
      await untilOf(async () => (await cursorOf(server, own)) === own.endMs)
      expect(await runner.stop()).toMatchObject({ code: 0 })
      await expectAll(server, own)
    },
    violations: async () => runner.crashes,
  }
}

/** A book on a market of its own, and its feed. */
export type LiveBook = {
  readonly alias: string
  readonly folder: string
  readonly book: string
  readonly feed: string
  /** Lines of the feed that are not there yet, and the close of the last of them. */
  readonly lines: readonly string[]
  readonly endMs: number
  /** What a runner that starts before the first of them has to fire. */
  readonly expected: readonly SignalContent[]
}

const HISTORY = 12
const FIRST_SLOT = 0

const RULE = (id: string) => `
export const strategy = {
  id: '${id}',
  version: '1',
  timeframeMs: 14_400_000,
  warmupBars: 2,
  baseRisk: 0.02,
  init: () => ({ before: null, held: 0 }),
  onBar(state, bar, position) {
    const isUp = state.before !== null && bar.c > state.before
    state.before = bar.c
    state.held = position === null ? 0 : state.held + 1
    if (position !== null) return state.held > 3 ? { act: 'flat', why: 'time' } : null
    return { act: isUp ? 'long' : 'short', stop: bar.c * (isUp ? 0.98 : 1.02) }
  },
}
`

const HEADER = 't,o,h,l,c,v'

/** Writes a book on a market of its own, whose feed has so many bars. */
export async function liveBook(seed: number, bars: number): Promise<LiveBook> {
  const alias = `oak${seed}`
  const folder = await temporaryFolder()
  const rows = walk(seed, HISTORY + bars)
  const lines = rows.map(([o, h, l, c], i) => `${slot(FIRST_SLOT + i)},${o},${h},${l},${c},1`)
  await writeFiles(folder, {
    'book/catalogue.yaml': catalogue([{ ...aModule(alias), timeframe: '4h', instrument: `M${seed}` }]),
    [`book/strategies/${alias}.ts`]: RULE(alias),
    [`book/bars/M${seed}/4h.csv`]: csv(HEADER, ...lines.slice(0, HISTORY)),
    'feed.csv': csv(HEADER),
  })
  const book = join(folder, 'book')
  const module: { strategy: Strategy } = await import(
    pathToFileURL(join(book, `strategies/${alias}.ts`)).href
  )
  const costs = { commission_bps_per_side: 0, slippage_ticks: 0, tick_size: 0.1, max_leverage: 15 }
  const reports = reportsOf({ strategy: module.strategy, bars: handBars(rows), costs })
  const sender = { alias, timeframeMs: 14_400_000, baseRisk: 0.02, tickSize: costs.tick_size }
  const all = reports.slice(HISTORY).flatMap(report => signalsOf(report, sender))
  return {
    alias,
    folder,
    book,
    feed: join(folder, 'feed.csv'),
    lines: lines.slice(HISTORY),
    endMs: slot(FIRST_SLOT + rows.length),
    expected: all[0]?.action === 'flat' ? all.slice(1) : all,
  }
}

function walk(seed: number, count: number): Ohlc[] {
  const { uniform } = createRandom(seed)
  let close = 1_000
  return Array.from({ length: count }, () => {
    const open = close
    close = Number((open * (1 + (uniform() - 0.5) * 0.03)).toFixed(2))
    return [open, Math.max(open, close) + 1, Math.min(open, close) - 1, close] as const
  })
}
