// A whole night at 10, 100 and 1 000 strategies over ten years: speed, the share of each step, memory, growth.
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { DAY_MS, parseIsoDate } from '#core/calendar.ts'
import { createMarket, marketFiles } from '#pipeline/sample/market.ts'
import { sampleModules } from '#pipeline/sample/write-sample-book.ts'
import { writeNewFolder } from '#pipeline/starter/write-starter-book.ts'
import type { Ground } from '../harness/ground.ts'
import { ROOT } from '../harness/programs.ts'
import { atMost, type Figure, plain, type Section } from '../harness/report.ts'
import { peakMib, processorSeconds } from '../harness/servers.ts'

const LARGEST = 1000
/** Somebody waits for a book of this size, so the default effort must not double its build. */
const SMALL = 10
const MOST_TIMES_QUICK = 2
const MOST_MIB = 2048
/** With the default effort, and with Brotli 5 everywhere. */
const MOST_SECONDS = { default: 240, quick: 60 }
/** Everything but correlation is linear: a strategy of the largest book costs no more than one of a tenth of it. */
const MOST_GROWTH = 1.2

export const GENERATED_VERSION = '2026-07-01T00:15:00Z'

/** How often the memory and the processor time of the build are looked at; the kernel keeps the peak. */
const LOOK_MS = 250

const runFile = promisify(execFile)
const summary = z.object({
  timings_ms: z.record(z.string(), z.number()),
  artifacts: z.object({ br_bytes: z.number() }),
})

type Effort = keyof typeof MOST_SECONDS

/** `BENCH_BOOKS=10,100` leaves the largest out, which takes minutes. */
export async function measureBuild({ folder }: Ground): Promise<Section> {
  const sizes = (process.env.BENCH_BOOKS ?? `10,100,${LARGEST}`).split(',').map(Number)
  const figures: Figure[] = []
  const quick: Built[] = []
  for (const size of sizes) {
    const book = join(folder, `book-${size}`)
    await writeGeneratedBook(book, size)
    const byDefault = await build(book, join(folder, 'store'), size, 'default')
    const fast = await build(book, join(folder, 'store'), size, 'quick')
    quick.push(fast)
    figures.push(...figuresOf(byDefault), ...figuresOf(fast), beside(byDefault, fast))
  }
  return {
    title: 'Builds',
    about:
      'The modules of the sample book on ten years of bars of 4 hours, no two alike: read, replayed, marked twice and ' +
      'measured (compute), correlated, compared and saved (publish), rendered, compressed and written (render), read back ' +
      '(verify), a thread a core. Wall clock; memory of all threads. Compressed by default, and ' +
      'with `--effort quick`: Brotli 5 everywhere.',
    figures: [...figures, ...growth(quick)],
  }
}

type Built = {
  readonly size: number
  readonly effort: Effort
  readonly timings: Readonly<Record<string, number>>
  readonly peakMib: number
  readonly processorSeconds: number
  readonly brMib: number
}

function figuresOf({ size, effort, timings, peakMib: peak, processorSeconds: used, brMib }: Built): Figure[] {
  const seconds = secondsOf(timings)
  const shares = Object.entries(timings).map(([step, ms]) => `${step} ${Math.round(ms / seconds / 10)} %`)
  const name = `${size} strategies${effort === 'quick' ? ', quick' : ''}`
  const limited = (what: string, value: number, most: number, unit: string): Figure =>
    size === LARGEST ? atMost(what, value, most, unit) : plain(what, value, unit)
  return [
    limited(`${name}: time`, seconds, MOST_SECONDS[effort], 's'),
    plain(`${name}: processor time`, used, 's'),
    { what: `${name}: share of the steps`, reached: shares.join(', ') },
    plain(`${name}: speed`, size / seconds, 'strategies a second'),
    limited(`${name}: most memory`, peak, MOST_MIB, 'MiB'),
    plain(`${name}: its brotli twins`, brMib, 'MiB'),
  ]
}

/** By processor time, which other work on the machine changes least. */
function beside({ size, processorSeconds }: Built, quick: Built): Figure {
  const what = `${size} strategies: processor time, against quick`
  const times = processorSeconds / quick.processorSeconds
  return size === SMALL ? atMost(what, times, MOST_TIMES_QUICK, 'times') : plain(what, times, 'times')
}

const secondsOf = (timings: Readonly<Record<string, number>>): number =>
  Object.values(timings).reduce((sum, ms) => sum + ms, 0) / 1000

/**
 * What one more strategy costs between one size and the next, without the correlation: what a build costs at any size
 * (starting the threads) is in neither. From the third size on, beside the step before.
 */
function growth(builds: readonly Built[]): Figure[] {
  const linear = builds.map(({ size, timings: { correlate = 0, ...rest } }) => ({
    size,
    seconds: secondsOf(rest),
  }))
  const steps = linear.slice(1).map(({ size, seconds }, i) => ({
    size,
    msEach: (1000 * (seconds - linear[i]!.seconds)) / (size - linear[i]!.size),
  }))
  return steps.flatMap(({ size, msEach }, i) => {
    const before = steps[i - 1]
    const cost = plain(`a strategy more, up to ${size}, quick, without correlation`, msEach, 'ms')
    if (before === undefined) return [cost]
    return [
      cost,
      atMost(`growth of it from ${before.size} to ${size}`, msEach / before.msEach, MOST_GROWTH, 'times'),
    ]
  })
}

/** A build whose store nobody needs. */
async function build(book: string, folder: string, size: number, effort: Effort): Promise<Built> {
  try {
    return await runBuild(book, folder, size, effort)
  } finally {
    for (const each of [folder, `${folder}.private`]) await rm(each, { recursive: true, force: true })
  }
}

/** Builds a book into a store in a folder, in a process of its own. */
export async function runBuild(book: string, folder: string, size: number, effort: Effort): Promise<Built> {
  const command = [join(ROOT, 'cli/launcher.mjs'), 'build', '--json', '--book', book]
  const running = runFile(
    process.execPath,
    [
      ...[
        ...command,
        '--store',
        pathToFileURL(folder).href,
        '--as-of',
        GENERATED_AS_OF,
        '--version',
        GENERATED_VERSION,
      ],
      ...(effort === 'quick' ? ['--effort', 'quick'] : []),
    ],
    { maxBuffer: 64 << 20 }, // a summary has a line a strategy
  )
  let [peak, used] = [0, 0]
  const look = setInterval(() => {
    const pid = running.child.pid ?? 0
    Promise.all([peakMib(pid), processorSeconds(pid)]).then(
      ([mib, seconds]) => {
        peak = Math.max(peak, Number.isNaN(mib) ? 0 : mib) // none where it is about to end
        used = Math.max(used, seconds)
      },
      () => {}, // it has ended
    )
  }, LOOK_MS)
  try {
    const { timings_ms: timings, artifacts } = summary.parse(JSON.parse((await running).stdout))
    const brMib = artifacts.br_bytes / 2 ** 20
    return { size, effort, timings, peakMib: peak, processorSeconds: used, brMib }
  } finally {
    clearInterval(look)
  }
}

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

/** Apart from what the modules import. */
const MODULE = /^strategies\/\w+\.ts$/

export const GENERATED_AS_OF = '2026-06-30'

/** Writes a book of so many modules. */
export async function writeGeneratedBook(dir: string, strategies: number): Promise<void> {
  const market = createMarket(SEED, FIRST_DAY * DAY_MS, AFTER_LAST_DAY * DAY_MS)
  const kit = await sampleModules()
  const modules = Object.entries(kit).filter(([path]) => MODULE.test(path))
  for (const [path] of modules) delete kit[path]
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
    ...kit,
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
funding: { BTCUSDT-PERP: 8h }
strategies:
${ids.map(toEntry).join('')}`

const toEntry = (id: string, i: number): string => `  - id: ${id}
    name: ${id}
    base_risk_pct: 0.02
    source: module
    timeframe: 4h
    inception: 2016-08-${String((i % DISTINCT_STARTS) + 1).padStart(2, '0')}
`
