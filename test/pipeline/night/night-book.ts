// Books of a few days, written for one test each: prices and trades whose results can be worked out by hand.
import { toIsoDate } from '#core/calendar.ts'
import type { Book } from '#pipeline/book/book.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { computeSnapshot, type Night, type NightOptions } from '#pipeline/night/compute-snapshot.ts'
import { withFiles } from '#test/support/temporary-folder.ts'
import { lines as csv, problemsIn } from '../book/book-folder.ts'

export { lines as csv } from '../book/book-folder.ts'

/** Monday 2024-01-01. */
export const FIRST_DAY = 19_723

export const NIGHT_VERSION = '2024-02-01T00:15:00Z'

type Fields = Readonly<
  Record<string, string | number | boolean | readonly (number | object)[] | Readonly<Record<string, string>>>
>

/** A catalogue without costs: what a trade makes is what its prices say. `funding` is stated of every instrument, or of each. */
export const catalogue = (
  strategies: readonly Fields[],
  service: Fields = {},
  funding: string | null | Fields = 'none',
): string =>
  JSON.stringify({
    service: {
      name: 'Hand',
      methodology_url: 'https://example.org/method',
      data_source: 'prices made by hand',
      engine: 'highwater',
      ...service,
    },
    defaults: { commission_bps_per_side: 0, slippage_ticks: 0, tick_size: 0.1 },
    funding:
      typeof funding === 'object' && funding !== null
        ? funding
        : Object.fromEntries(
            strategies.map(({ instrument = 'BTCUSDT-PERP' }) => [String(instrument), funding ?? undefined]),
          ),
    strategies: strategies.map(strategy => ({ name: 'A strategy', base_risk_pct: 0.02, ...strategy })),
  })

/** Daily bars with these closes, from `FIRST_DAY` on; each opens where the one before closed. */
export function dailyBars(closes: readonly number[], first = FIRST_DAY): string {
  const rows = closes.map((close, i) => {
    const open = closes[i - 1] ?? close
    return `${toIsoDate(first + i)}T00:00:00Z,${open},${Math.max(open, close)},${Math.min(open, close)},${close},1`
  })
  return csv('t,o,h,l,c,v', ...rows)
}

/** Daily returns as reported, from `FIRST_DAY` on. */
export const dailyReturns = (values: readonly number[], first = FIRST_DAY): string =>
  csv('t,ret', ...values.map((value, i) => `${toIsoDate(first + i)},${value}`))

/** A payment at the open of each of as many days, from `FIRST_DAY` on. */
export const dailyFunding = (days: number, rate = 0): string =>
  csv('t,rate', ...Array.from({ length: days }, (_, i) => `${toIsoDate(FIRST_DAY + i)}T00:00:00Z,${rate}`))

/** A ledger of one trade, from 100 on the second day to 103 on the eighth, whose result is given and right. */
export const ONE_TRADE = [
  'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,account_return',
  'long,2024-01-02T00:00:00Z,100,2024-01-08T00:00:00Z,103,signal,1,0.03',
  '',
].join('\n')

/** What a module changes of one that is sound: source text. */
export type Changes = { readonly head?: string; readonly body?: string }

/** A module of the id that holds a long from the first bar on, with a stop far away. */
export const moduleText = (id: string, changes: Changes = {}) => `
${changes.head ?? ''}
export const strategy = {
  id: '${id}',
  version: '1',
  timeframeMs: 86_400_000,
  warmupBars: 0,
  baseRisk: 0.02,
  init: () => ({}),
  onBar: (state, bar, position) => position === null ? { act: 'long', stop: bar.c / 2 } : null,
  ${changes.body ?? ''}
}
`

/** What the maker of a history states: no costs. */
const STATED = { commission_bps_per_side: 0, slippage_ticks: 0, engine: 'by hand' }

export const aModule = (id: string): Fields => ({ id, source: 'module', timeframe: '1d' })
export const aLedger = (id: string): Fields => ({ id, source: 'ledger', ...STATED })
export const reported = (id: string): Fields => ({ id, source: 'returns', ...STATED })

/** A strategy of a book: its entry in the catalogue, and its file. */
type Made = { readonly entry: Fields; readonly path: string; readonly text: string }

export const moduleOf = (id: string, changes: Changes = {}, fields: Fields = {}): Made => ({
  entry: { ...aModule(id), ...fields },
  path: `strategies/${id}.ts`,
  text: moduleText(id, changes),
})

const tableOf =
  (entryOf: (id: string) => Fields, folder: string) =>
  (id: string, text: string, fields: Fields = {}): Made => ({
    ...{ entry: { ...entryOf(id), ...fields }, path: `${folder}/${id}.csv`, text },
  })
export const ledgerOf = tableOf(aLedger, 'ledgers')
export const returnsOf = tableOf(reported, 'returns')

/** The files of a book of these strategies on daily bars, and what else its catalogue says. */
export const bookOf = (
  bars: string,
  strategies: readonly Made[],
  ...others: [service?: Fields, funding?: Parameters<typeof catalogue>[2]]
): Readonly<Record<string, string>> => ({
  'bars/BTCUSDT-PERP/1d.csv': bars,
  ...Object.fromEntries(strategies.map(({ path, text }) => [path, text])),
  'catalogue.yaml': catalogue(
    strategies.map(({ entry }) => entry),
    ...others,
  ),
})

/** The same book, whose catalogue accepts these findings. */
export const accepting = (book: Readonly<Record<string, string>>, accept: readonly object[]) => ({
  ...book,
  'catalogue.yaml': JSON.stringify({ ...JSON.parse(book['catalogue.yaml']!), accept }),
})

/** The night of a book on one thread, whatever the age of its bars. */
export async function nightOf(files: Readonly<Record<string, string>>, options: Partial<NightOptions> = {}) {
  return withFiles(files, async folder => computeNight(await readBook(folder), options))
}

export const computeNight = (book: Book, options: Partial<NightOptions> = {}): Promise<Night> =>
  computeSnapshot(book, {
    version: NIGHT_VERSION,
    nowMs: 0,
    asOf: null,
    allowStale: true,
    threads: 1,
    progress: () => {},
    elapsedMs: () => performance.now(),
    ...options,
  })

/** Everything that is wrong with a book, as the operator reads it; empty where its night is sound. */
export const problemsOfNight = (...night: Parameters<typeof nightOf>): Promise<string[]> =>
  problemsIn(nightOf(...night))
