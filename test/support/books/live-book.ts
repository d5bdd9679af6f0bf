// A book whose one module enters and leaves every few bars, with the beginning of its bars, and a feed with the rest.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SignalContent } from '#core/contract/signal.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { signalsOf } from '#signals/live/signals-of.ts'
import { handBars, type Ohlc, slot } from '../../core/replay/hand.ts'
import { aModule, catalogue, csv } from '../../pipeline/night/night-book.ts'
import { reportsOf } from '../../signals/live/live-kit.ts'
import { writeFiles } from '../temporary-folder.ts'

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

/** A book on a market of its own, whose feed has so many bars. */
export async function liveBook(seed: number, bars: number): Promise<LiveBook> {
  const alias = `oak${seed}`
  const folder = await mkdtemp(join(tmpdir(), 'highwater-live-'))
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
  const sender = { alias, timeframeMs: 14_400_000, baseRisk: 0.02 }
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
