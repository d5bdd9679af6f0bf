// The second computation of every figure, in pandas, against what nights publish: examples/python/recompute.py.
import { existsSync } from 'node:fs'
import { cp, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { DAY_MS, toCompactInstant, toIsoDate } from '#core/calendar.ts'
import { writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { notRecomputableFields, statsFields } from '../docs/figure-list.ts'
import {
  publishBook,
  type Stores,
  TINY_BOOK,
  TINY_LAST_DAY,
  TINY_VERSION,
} from '../support/books/publish-book.ts'
import { startProcess } from '../support/history/highwater-process.ts'
import { serveStores } from '../support/history/signed-service.ts'
import { listenForTest } from '../support/http/listen-for-test.ts'
import { DEBIAN_PYTHON, pandasEnv } from '../support/pandas.ts'
import { shared } from '../support/runner/shared.ts'
import { newStores } from '../support/stores/stores.ts'
import { lastingFolder, writeFiles } from '../support/temporary-folder.ts'

const SCRIPT = join(import.meta.dirname, '../../examples/python/recompute.py')

/** Runs the program with each of these arguments in one process: importing pandas takes longer than most checks. */
const RUN_EACH = `
import contextlib, io, json, sys
import bounds, recompute

def run(args):
    sys.argv, out, err = ["recompute.py", *args], io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = recompute.main()
        except SystemExit as end:
            code = end.code
    return {"code": code, "stdout": out.getvalue(), "stderr": err.getvalue()}

json.dump({"exits": [run(args) for args in json.loads(sys.argv[1])], "listed": bounds.NOT_RECOMPUTABLE}, sys.stdout)
`

const ran = z.object({
  exits: z.array(z.object({ code: z.int(), stdout: z.string(), stderr: z.string() })),
  listed: z.record(z.string(), z.string()),
})

async function recomputeEach(calls: readonly (readonly string[])[]): Promise<z.infer<typeof ran>> {
  const args = ['-c', RUN_EACH, JSON.stringify(calls)]
  const world = { env: await pandasEnv(), cwd: dirname(SCRIPT) }
  const { stdout, stderr } = await startProcess(DEBIAN_PYTHON, args, world).ended
  expect(stderr).toBe('')
  return ran.parse(JSON.parse(stdout))
}

/** Any file server: the address of the public store, with some files altered on the way. */
async function serveFiles({ url }: Stores, alter: (path: string, text: string) => string): Promise<string> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    readFile(fileURLToPath(url) + path, 'utf8').then(
      text => response.end(alter(path, text)),
      () => response.writeHead(404).end(),
    )
  })
  return listenForTest(server)
}

/** Daily returns that end with the tiny book; six decimals, gains and losses. */
const wave = (days: number): number[] =>
  Array.from({ length: days }, (_, i) => Math.round(2e4 * Math.sin(i * i) + 300) / 1e6)

/** An instrument whose bars begin on the day before the last. */
const SHORT = 'XRPUSDT-PERP'

/** What is hard to compute, each by its id: returns up to the last day of the tiny book, or up to `last`. */
type Edge = { readonly returns: readonly number[]; readonly last?: string; readonly instrument?: string }
const EDGES: Readonly<Record<string, Edge>> = {
  'one-day': { returns: [0.01] },
  'one-loss': { returns: [-0.01] },
  'two-days': { returns: [0.01, -0.02] },
  'two-equal-days': { returns: [0.01, 0.01] },
  'three-days': { returns: [0.01, -0.02, 0.03] },
  'nineteen-days': { returns: wave(19) },
  'a-month': { returns: wave(30), last: '2024-12-31' },
  constant: { returns: Array.from({ length: 400 }, () => 0.001) },
  'only-losses': { returns: Array.from({ length: 400 }, (_, i) => -0.001 - (i % 2) / 1e4) },
  'a-year': { returns: wave(365) },
  'nearly-four-years': { returns: wave(1400) },
  'ruined-at-risk': { returns: [...wave(200), -0.3, ...wave(150)] },
  ruined: { returns: [...wave(100), -1, ...new Array<number>(300).fill(0)] },
  'without-bars': { returns: wave(400), instrument: 'ETHUSDT-PERP' },
  'two-days-of-bars': { returns: wave(400), instrument: SHORT },
  'ruined-on-the-last-day': { returns: [...wave(400), -1] },
}

const LEDGERS = {
  untraded: [],
  'only-open': ['short,2025-02-10T00:00:00Z,28241.0,,,,0.5,,'],
  overlapping: [
    'long,2024-02-02T00:00:00Z,41184.5,2024-02-08T00:00:00Z,43023.0,signal,0.5,,',
    'short,2024-02-05T00:00:00Z,42003.0,2024-02-08T00:00:00Z,43023.0,signal,0.25,,',
    'long,2024-02-08T00:00:00Z,43023.0,2024-02-09T00:00:00Z,42621.5,signal,0.25,,',
    'long,2025-02-10T00:00:00Z,28241.0,,,,0.5,,',
    'short,2025-02-15T00:00:00Z,27560.5,,,,0.25,,',
  ],
  'one-win': ['long,2024-02-02T00:00:00Z,41184.5,2024-02-08T00:00:00Z,43023.0,signal,0.5,,'],
}

/** Inside most histories, at the edge of some, and outside of all. */
const PERIODS =
  '{ name: inside, from: 2024-02-01, to: 2024-02-29 }, { name: over the end, from: 2025-02-01, to: 2025-03-31 }, { name: outside, from: 2019-01-01, to: 2019-01-31 }'

/** The tiny book, and strategies at the edges of the definitions. */
async function edgeBook(): Promise<string> {
  const book = join(await lastingFolder(), 'book')
  await cp(TINY_BOOK, book, { recursive: true })
  const entry = (id: string, source: string, instrument = 'BTCUSDT-PERP') =>
    `  - { id: ${id}, instrument: ${instrument}, name: ${id}, base_risk_pct: 0.02, source: ${source}, engine: by hand, commission_bps_per_side: 5, slippage_ticks: 2, allow_overlap: true, trials: 20 }\n`
  const catalogue = await readFile(join(book, 'catalogue.yaml'), 'utf8')
  const files: Record<string, string> = {}
  for (const [id, { returns, last = TINY_LAST_DAY }] of Object.entries(EDGES)) {
    const before = Date.parse(last) / DAY_MS - returns.length
    files[`returns/${id}.csv`] =
      `t,ret\n${returns.map((ret, i) => `${toIsoDate(before + i + 1)},${ret}\n`).join('')}`
  }
  const header = 'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,stop,account_return'
  for (const [id, rows] of Object.entries(LEDGERS)) {
    files[`ledgers/${id}.csv`] = [header, ...rows, ''].join('\n')
  }
  files['ledgers/untraded-for-two-days.csv'] = `${header}\n`
  const bars = ['2025-02-21', TINY_LAST_DAY].map(day => `${day}T00:00:00Z,1,2,1,2,1\n`)
  files[`bars/${SHORT}/1d.csv`] = `t,o,h,l,c,v\n${bars.join('')}`
  const entries = [
    ...Object.entries(EDGES).map(([id, { instrument }]) => entry(id, 'returns', instrument)),
    ...Object.keys(LEDGERS).map(id => entry(id, 'ledger')),
    entry('untraded-for-two-days', 'ledger', SHORT),
  ]
  await writeFiles(book, {
    ...files,
    'catalogue.yaml': catalogue
      .replace('service:\n', `service:\n  stress_periods: [${PERIODS}]\n`)
      .replace('strategies:\n', `strategies:\n${entries.join('')}`)
      .replace('8h }', `8h, ${SHORT}: none, ETHUSDT-PERP: none }`)
      .concat(
        `accept: [{finding: no_drawdown, of: constant, from: 2024-01-01, to: ${TINY_LAST_DAY}, count: 20, reason: an edge}]\n`,
      ),
  })
  return book
}

/** The lines of blocks, by name. */
const blocksIn = (text: string): Map<string, string> =>
  new Map(
    [...text.matchAll(/^(\S.*?) +((?:\d+ strateg|the book).*)$/gm)].map(([, name, line]) => [name!, line!]),
  )

const BLOCKS = [
  ...['correlation daily', 'correlation weekly', 'summary', 'equal_weight_book', 'diversification'],
  ...['returns', 'weeks', 'stats', 'trades', 'risk_adjusted', 'drawdowns', 'monthly', 'annual', 'exposure'],
  ...['benchmark', 'since_publication', 'costs', 'excursions', 'replays', 'undefined'],
  ...['curve', 'rolling', 'risk', 'headline', 'at risk 0.01', 'at risk 0.1'],
]

const tiny = (): Stores => inject('tinyStore')
const STATS = '/strategies/beech/stats.json'
const tinyFile = (path: string): string => `/v1/snapshots/${toCompactInstant(TINY_VERSION)}${path}`

const jsonReport = z.object({
  blocks: z.record(
    z.string(),
    z.object({ following: z.int(), differences: z.array(z.object({ of: z.string(), path: z.string() })) }),
  ),
  not_recomputable: z.record(z.string(), z.string()),
})

/** A file of the tiny book, what is altered in it, and what the report has of it. */
type Alteration = readonly [what: string, file: string, pattern: RegExp, replacement: string, named: RegExp]

const ALTERATIONS = casesOf<Alteration>`
a digit of a return -> /strategies/elm/returns.daily.json -> ${/-?0\.0\d+1/} -> 0.5 -> ${/^returns .* differ/m}
a digit of a week -> /strategies/elm/returns.weekly.json -> ${/ret":0\.\d\d/} -> ret":0.99 -> ${/^returns .* differ/m}
a digit of the curve -> /strategies/elm/curve.json -> ${/equity":1\.0/} -> equity":1.1 -> ${/^curve .* differ/m}
a correlation -> /correlation.weekly.json -> ${/\[1,-?0\.\d/} -> [1,0.9 -> ${/^correlation weekly .* differ/m}
a figure of the book -> /summary.json -> ${/"cagr_pct":-?\d/} -> "cagr_pct":7 -> ${/^ .* equal_weight_book\/cagr_pct: /m}
a return of the book -> /benchmark.json -> ${/"equal_weight_book":-?0\.\d/} -> "equal_weight_book":0.7 -> ${/^equal_weight_book .* differ/m}
an identity -> ${STATS} -> ${/"payoff_ratio":(\d+)\.\d/} -> "payoff_ratio":$1.99 -> ${/^ .*payoff_ratio: /m}
a range -> ${STATS} -> ${/"best_trade_pct":\d+\.\d/} -> "best_trade_pct":0.01 -> ${/^ .*best_trade_pct: /m}
a CAGR without its returns -> ${STATS} -> ${/"at_twice_the_costs":{"net_return_pct":-?\d/} -> $&1 -> ${/^ .*at_twice_the_costs\/cagr_pct: /m}
a number of refused entries -> ${STATS} -> ${/"entries_refused":null/} -> "entries_refused":1 -> ${/^ .*replays\/entries_refused: /m}
a share of drawn years -> /strategies/beech/risk.json -> ${/"below_start_probability_pct":(\d|null)/} -> $&1 -> ${/^ .*below_start_probability_pct: /m}
a reason -> ${STATS} -> ${/"no_drawdown"|"too_few_points"/} -> "ruin" -> ${/^undefined .* differ/m}
an unknown field -> ${STATS} -> ${/"calmar":/} -> "calmer":1,"calmar": -> ${/^ .*calmer: /m}
a missing field -> ${STATS} -> ${/"omega":[\d.]+,/} -> ${''} -> ${/^ .*fund_dd\/risk_adjusted\/omega: /m}`

/** Calls that are refused; `SERVICE` stands for the address of the service. */
const REFUSED: readonly [readonly string[], string][] = [
  [[], 'the following arguments are required: url'],
  [['SERVICE', '--risk', '0'], 'invalid positive value'],
  [['SERVICE', '--strategy', 'oak'], 'there is no strategy oak'],
  [['SERVICE', '--version', '2001-01-01T00:00:00Z'], 'answered 404'],
  [['http://127.0.0.1:1'], 'Connection refused'],
  [['nowhere'], 'unknown url type'],
]

/** Each by itself, but those of published statistics together: nothing is computed from them. */
const TRIALS = [...Map.groupBy(ALTERATIONS, ([what, file]) => (file === STATS ? file : what)).values()]

/** The tiny book on a file server with these alterations. */
const serveAltered = (trial: readonly Alteration[]): Promise<string> =>
  serveFiles(tiny(), (path, text) =>
    trial
      .filter(([, file]) => path === tinyFile(file))
      .reduce((altered, [, , pattern, to]) => altered.replace(pattern, to), text),
  )

/** The tiny book on a file server with one more in the last digit of each number of a strategy; `paths` receives where. */
const serveIncreased = (paths: string[]): Promise<string> =>
  serveFiles(tiny(), (path, text) => {
    if (path !== tinyFile(STATS)) return text
    const answer = JSON.parse(text)
    return JSON.stringify({ ...answer, data: increased(answer.data, '', paths) })
  })

/** The one that is altered, or any. */
const strategyOf = ([, file]: Alteration): string => /^\/strategies\/(\w+)/.exec(file)?.[1] ?? 'yew'

/** The first four years of the sample book, one strategy replayed at other risk levels. */
async function publishSample(): Promise<Stores> {
  const [book, stores] = [join(await lastingFolder(), 'book'), await newStores()]
  await writeSampleBook(book)
  const catalogue = await readFile(join(book, 'catalogue.yaml'), 'utf8')
  const replayed = catalogue.replace(
    'timeframe: 4h',
    '$&\n    trials: 12\n    replayed_at: [0.01, 0.02, 0.1]',
  )
  await writeFiles(book, { 'catalogue.yaml': replayed })
  await publishBook(book, stores, { asOf: '2021-12-31', version: '2022-01-01T00:15:00Z' })
  return stores
}

/** Of the sample book: one of a module, of a ledger, and of returns. */
const ONE_OF_EACH = ['alder', 'rowan', 'willow']

async function publishEdges(): Promise<Stores> {
  const stores = await newStores()
  await publishBook(await edgeBook(), stores)
  return stores
}

const isThere = existsSync(DEBIAN_PYTHON)

describe.skipIf(!isThere)(`recompute.py${isThere ? '' : ` (skipped: no ${DEBIAN_PYTHON})`}`, () => {
  type Group = 'equal' | 'anywhere' | 'altered' | 'increased' | 'refused'
  let calls: Readonly<Record<Group, readonly (readonly string[])[]>>
  /** What the calls gave, all of one process. */
  let exits: Readonly<Record<Group, z.infer<typeof ran>['exits']>>
  /** What the program says that it does not recompute, and why. */
  let listed: Readonly<Record<string, string>>
  const increasedPaths: string[] = []

  beforeAll(async () => {
    const { url } = await shared('history')
    calls = {
      equal: [
        [await serveStores(await publishSample()), ...ONE_OF_EACH.flatMap(id => ['--strategy', id])],
        [await serveStores(await publishEdges()), '--risk', '0.1'],
      ],
      anywhere: [[await serveFiles(tiny(), (_, text) => text)]],
      altered: await Promise.all(
        TRIALS.map(async trial => [await serveAltered(trial), '--strategy', strategyOf(trial[0]!)]),
      ),
      increased: [[await serveIncreased(increasedPaths), '--strategy', 'beech', '--json']],
      refused: [['--help'], ...REFUSED.map(([args]) => args.map(arg => (arg === 'SERVICE' ? url : arg)))],
    }
  })

  beforeAll(async () => {
    const { exits: all, ...rest } = await recomputeEach(Object.values(calls).flat())
    listed = rest.listed
    const exitsOf = (group: readonly unknown[]) => all.splice(0, group.length)
    exits = {
      ...{ equal: exitsOf(calls.equal), anywhere: exitsOf(calls.anywhere) },
      ...{ altered: exitsOf(calls.altered), increased: exitsOf(calls.increased) },
      refused: exitsOf(calls.refused),
    }
  })

  test.each([
    ['the sample book with replays', 0, BLOCKS],
    ['a book of edge cases', 1, BLOCKS.filter(name => name !== 'at risk 0.01')],
  ])('recompute.py finds no difference in %s', (_what, i, expected) => {
    const { code, stdout, stderr } = exits.equal[i]!
    expect([code, stderr, stdout.split('\n').filter(line => /differ|^ /.test(line))]).toEqual([0, '', []])
    const blocks = blocksIn(stdout)
    expect([...blocks.keys()].toSorted()).toEqual(expected.toSorted())
    for (const line of blocks.values()) expect(line).toContain('all equal')
  })

  test('recompute.py reads published files from any file server, and says what it cannot check there', () => {
    const [exit] = exits.anywhere
    expect(exit).toMatchObject({ code: 0, stderr: '' })
    expect(exit!.stdout).toContain('not checked: rolling years and other risk levels')
  })

  test('recompute.py exits with 1 and names each figure that was altered', () => {
    for (const [i, trial] of TRIALS.entries()) {
      const exit = exits.altered[i]!
      expect(exit).toMatchObject({ code: 1, stderr: '' })
      for (const [what, , , , named] of trial) expect(exit.stdout, what).toMatch(named)
    }
  })

  test('recompute.py notices a change of the last digit of every number that open data determine', () => {
    const [exit] = exits.increased
    const report = jsonReport.parse(JSON.parse(exit!.stdout))
    const named = new Set(
      Object.values(report.blocks).flatMap(block => block.differences.map(({ path }) => path)),
    )
    const listed = Object.keys(report.not_recomputable)
    const isListed = (path: string) => listed.some(name => `${path}/`.startsWith(`${name}/`))
    const missed = increasedPaths.filter(path => !named.has(path) && !isListed(path))
    expect([exit!.code, missed.filter(path => !FOLLOWING.test(path))]).toEqual([1, []])
    expect(increasedPaths.length).toBeGreaterThan(150)
  })

  test('recompute.py lists exactly the fields that the API reference marks as not recomputable, with the same reasons', () => {
    const marked = notRecomputableFields()
    const nameOf = (path: string) => Object.keys(listed).find(name => `${path}/`.startsWith(`${name}/`))
    for (const [path, about] of marked) {
      expect([path, about]).toEqual([
        path,
        expect.stringContaining(`open data: ${listed[nameOf(path) ?? '']}.`),
      ])
    }
    expect(new Set([...marked.keys()].map(nameOf))).toEqual(new Set(Object.keys(listed)))
    const inListed = statsFields().filter(path => nameOf(path) !== undefined && !marked.has(path))
    expect(inListed).toEqual([])
  })

  test('recompute.py prints its options, and refuses with 2 what it cannot answer', () => {
    const [help, ...refused] = exits.refused
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('examples:') })
    expect(refused).toMatchObject(
      REFUSED.map(([, message]) => ({ code: 2, stderr: expect.stringContaining(message) })),
    )
  })
})

/** With an open position only ranges. */
const FOLLOWING = /^fund_dd\/exposure\//

/** A tree with one more in the last digit of each number; `paths` receives where. */
function increased(node: unknown, path: string, paths: string[]): unknown {
  if (typeof node === 'number') {
    paths.push(path)
    return Number.isInteger(node) ? node + 1 : Number((node + 1e-6).toFixed(6))
  }
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([name, child]) => [
    name,
    increased(child, path === '' ? name : `${path}/${name}`, paths),
  ])
  return Array.isArray(node) ? entries.map(([, child]) => child) : Object.fromEntries(entries)
}
