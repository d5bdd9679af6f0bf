// Books of any size: the reference strategies of the sample book, again and again under other names and on longer or
// shorter rules, on ten years of a synthetic market.
import { DAY_MS, parseIsoDate } from '#core/calendar.ts'
import { createMarket } from '#pipeline/sample/market.ts'
import { marketFiles } from '#pipeline/sample/market-files.ts'
import { sampleModules } from '#pipeline/sample/write-sample-book.ts'
import { moduleKit, writeNewFolder } from '#pipeline/starter/new-book.ts'

const FIRST_DAY = parseIsoDate('2016-07-01') ?? 0
const AFTER_LAST_DAY = parseIsoDate('2026-07-01') ?? 0
const SEED = 4

/** Bars in the average range that the stop is measured by: each time round the rules it is another, so no two trade alike. */
const SHORTEST_RANGE = 10
const RANGES = 61 // no divisor of it is one of the starts below: a rule that comes again begins on another day

/** Every strategy begins a day after the one before, as far as that leaves most of the ten years. */
const DISTINCT_STARTS = 10

/** `export const strategy = timeSeriesMomentum('maple', { lookbackBars: 540 })`: the factory, and the figures it is given. */
const OWN_RULE = /^(export const strategy = \w+)\('\w+'(?:, (.*))?\)$/m

export const GENERATED_AS_OF = '2026-06-30'

/** Writes a book of so many modules. */
export async function writeGeneratedBook(dir: string, strategies: number): Promise<void> {
  const market = createMarket(SEED, FIRST_DAY * DAY_MS, AFTER_LAST_DAY * DAY_MS)
  const modules = Object.entries(await sampleModules())
  const ids = Array.from({ length: strategies }, (_, i) => `s${String(i).padStart(4, '0')}`)
  const files = ids.map((id, i) => {
    const [, text = ''] = modules[i % modules.length] ?? []
    const atrBars = SHORTEST_RANGE + (Math.floor(i / modules.length) % RANGES)
    return [
      `strategies/${id}.ts`,
      text.replace(
        OWN_RULE,
        (_, factory, rule = '{}') => `${factory}('${id}', { ...${rule}, atrBars: ${atrBars} })`,
      ),
    ]
  })
  await writeNewFolder(dir, {
    'catalogue.yaml': catalogue(ids),
    ...marketFiles('BTCUSDT-PERP', market),
    ...Object.fromEntries(files),
    ...(await moduleKit()),
  })
}

const catalogue = (ids: readonly string[]): string => `service:
  name: Generated (synthetic)
  data_source: Synthetic bars, generated from a fixed seed; no market data
  engine: Highwater replay on closed bars
  methodology_url: https://example.com/methodology
  disclaimer: Synthetic; belongs to no market and no account.
defaults:
  instrument: BTCUSDT-PERP
  ccy: USDT
  denomination: USDT, linear perpetual (synthetic)
  commission_bps_per_side: 5
  slippage_ticks: 2
  tick_size: 0.1
  max_leverage: 15
  mark: 4h
strategies:
${ids.map(toEntry).join('')}`

const toEntry = (id: string, i: number): string => `  - id: ${id}
    name: ${id}
    base_risk_pct: 0.02
    source: module
    timeframe: 4h
    inception: 2016-08-${String((i % DISTINCT_STARTS) + 1).padStart(2, '0')}
`
