import { expect, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import { DEFAULT_TIERS } from '#pipeline/book/read-program.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { GOOD, problemsOf, readChanged } from './book-folder.ts'
import { BARS, PROGRAM, withLines, withProgram } from './program-book.ts'

const day = (text: string): number => parseIsoDate(text) ?? Number.NaN

test('a sound program is read with the defaults of what it leaves out, and its bars beside those of the strategies', async () => {
  const book = await readChanged(withProgram())
  expect(book.program?.plan).toEqual({
    alias: 'accumulation',
    instrument: 'BTCUSDT-SPOT',
    timeframe: '1d',
    window: { from: day('2020-01-01'), to: day('2029-12-31') },
    tiers: DEFAULT_TIERS,
    contribution_cadence_bars: 7,
    costs: { fee_bps: 10, slippage_bps: 5 },
    reference_equity_usd: 100_000,
    paused: [],
    tv_status: 'not_applicable',
  })
  expect(book.program?.bars.bars.c).toEqual(Float64Array.of(7240))
  expect([...book.bars.keys()]).toEqual(['BTCUSDT-PERP/4h'])
  expect(book.warnings.filter(({ file }) => file.startsWith('bars/'))).toEqual([])
  expect(book.inputs.map(({ path }) => path).slice(-2)).toEqual(['program.yaml', 'bars/BTCUSDT-SPOT/1d.csv'])
})

test('a sound program shares the bars of a strategy that has the same, and reads them once', async () => {
  const shared = PROGRAM.replace('BTCUSDT-SPOT', 'BTCUSDT-PERP\ntimeframe: 4h')
  const book = await readChanged({ 'program.yaml': shared })
  expect(book.program?.bars).toBe(book.bars.get('BTCUSDT-PERP/4h'))
  expect(book.inputs.filter(({ path }) => path.startsWith('bars/'))).toHaveLength(1)
})

test('a sound program takes its tiers, bands, steps and paused spans from the file, the tiers in the order of the definition', async () => {
  const book = await readChanged(
    withLines(
      'tiers:',
      '  tactical: { weight: 0.4, steps: [{ drawdown: 0.1, spend: 1 }] }',
      '  cyclical: { weight: 0.6, bands: [{ below: 1, spend: 0.5 }, { below: 2, spend: 0 }] }',
      'paused: [{ from: 2021-01-01, to: 2021-01-31 }, { from: 2022-01-01 }]',
      'reference_equity_usd: 5000',
    ),
  )
  const bands = [[1, 0.5] as const, [2, 0] as const].map(([below, spend]) => ({ below, spend }))
  const spans = [['2021-01-01', '2021-01-31'] as const, ['2022-01-01', null] as const]
  const paused = spans.map(([from, to]) => ({ from: day(from), to: to && day(to) }))
  expect(book.program?.plan).toMatchObject({
    tiers: [
      { tier: 'cyclical', weight: 0.6, rule: { kind: 'mayer', mean_days: 200, bands } },
      { tier: 'tactical', weight: 0.4, rule: { kind: 'dips', steps: [{ drawdown: 0.1, spend: 1 }] } },
    ],
    paused,
    reference_equity_usd: 5000,
  })
})

test('a sound program may have weights that sum to 1 but for the rounding of their sum', async () => {
  const tiers = 'tiers: { core: { weight: 0.1 }, cyclical: { weight: 0.2 }, tactical: { weight: 0.7 } }'
  expect(await problemsOf(withLines(tiers))).toEqual([])
  const off = tiers.replace('0.7', '0.70000001')
  expect(await problemsOf(withLines(off))).toHaveLength(1)
})

test('a window of more bars than a request can simulate is a problem', async () => {
  const hours = {
    ...withProgram(
      'window:\n  from: 2020-01-01\n  to: 2029',
      'timeframe: 1h\nwindow:\n  from: 2020-01-01\n  to: 2039',
    ),
    'bars/BTCUSDT-SPOT/1h.csv': BARS,
  }
  expect(await problemsOf(hours)).toEqual([
    'program.yaml:6:7: window.to: expected a window of at most 100000 bars, got 175320 of 1h: take a longer timeframe',
  ])
})

test('a program.yaml that is no map, no YAML, or full of aliases is one problem', async () => {
  expect(await problemsOf({ 'program.yaml': '' })).toEqual(['program.yaml:1:1: expected a map, got nothing'])
  expect(await problemsOf({ 'program.yaml': 'alias: [' })).toHaveLength(1)
  const bomb = { 'program.yaml': `a: [&a 1${', *a'.repeat(1001)}]` }
  expect(String(await problemsOf(bomb))).toMatch(/^program.yaml: expected at most 1000 aliased nodes: /)
})

test('every problem of a program is reported at once, with those of the bars and of the rest of the book', async () => {
  const problems = await problemsOf({
    ...withProgram('fee_bps: 10', 'fee_bps: ten'),
    'program.yaml': PROGRAM.replace('fee_bps: 10', 'fee_bps: ten').replace('to: 2029', 'to: 1929'),
    'bars/BTCUSDT-SPOT/1d.csv': BARS.replace('7190,7240,1000', '0,7240,-1'),
    'returns/cedar.csv': GOOD['returns/cedar.csv'].replace('0.01', 'x'),
  })
  expect(problems.map(problem => problem.split(': ').slice(0, 2).join(': '))).toEqual([
    'bars/BTCUSDT-SPOT/1d.csv:2: l',
    'bars/BTCUSDT-SPOT/1d.csv:2: v',
    'program.yaml:5:7: window.to',
    'program.yaml:8:12: costs.fee_bps',
    'returns/cedar.csv:2: ret',
  ])
})

test('a problem of bars that a strategy shares is reported once', async () => {
  const shared = PROGRAM.replace('BTCUSDT-SPOT', 'BTCUSDT-PERP\ntimeframe: 4h')
  const broken = GOOD['bars/BTCUSDT-PERP/4h.csv'].replace('7190,7240', '0,7240')
  expect(await problemsOf({ 'program.yaml': shared, 'bars/BTCUSDT-PERP/4h.csv': broken })).toEqual([
    'bars/BTCUSDT-PERP/4h.csv:2: l: expected a price above 0, got "0"',
  ])
})

const FRACTION = 'expected a fraction from 0 to 1 of the cash of the tier'
const DATE = 'expected a date from 1980 to 2099 as YYYY-MM-DD'
const CADENCE = 'expected a whole number of bars from 1 to 3650'
const BPS = 'expected a number of basis points from 0 to 1000 (5 = 0.05 %)'

test.each(
  casesOf`
an alias that no path could carry -> accumulation -> My Program -> 1:8: alias: expected an alias of 1 to 64 lower-case letters, digits, dashes and underscores that begins with a letter or digit, got "My Program"
an alias that is reserved -> accumulation -> aliases -> 1:8: alias: expected an alias of its own, got "aliases", which is reserved: choose another
an alias that is a strategy -> accumulation -> birch -> 1:8: alias: expected an alias of its own, got "birch", a strategy: choose another
an instrument without bars -> BTCUSDT-SPOT -> BTCUSDT-SPOTT -> 2:13: instrument: expected an instrument with bars under bars/, got "BTCUSDT-SPOTT"; the nearest instrument is "BTCUSDT-SPOT"
an instrument that is a path -> BTCUSDT-SPOT -> ../secret -> 2:13: instrument: expected a name of 1 to 64 letters, digits, dots, dashes and underscores that begins with a letter or digit, other than equal_weight_book, got "../secret"
a timeframe without bars -> window -> timeframe: 4h\nwindow -> 3:12: timeframe: expected bars/BTCUSDT-SPOT/4h.csv or .csv.gz, got no such file; bars/BTCUSDT-SPOT/ has 1d.csv
a timeframe that is too fine -> window -> timeframe: 15m\nwindow -> 3:12: timeframe: expected one of 1h, 4h, 1d, got "15m"
a day that no calendar has -> 2020-01-01 -> 2020-02-30 -> 4:9: window.from: ${DATE}, got "2020-02-30"
a year that is none of bars -> 2029-12-31 -> 2129-12-31 -> 5:7: window.to: ${DATE}, got "2129-12-31"
a window without an end ->   to: 2029-12-31\n ->  -> 4:3: window.to: ${DATE}, got nothing
a window that ends before it begins -> 2029-12-31 -> 2019-12-31 -> 5:7: window.to: expected a day on or after 2020-01-01, got 2019-12-31
a fractional cadence -> s: 7 -> s: 7.5 -> 6:28: contribution_cadence_bars: ${CADENCE}, got 7.5
a cadence of 0 -> s: 7 -> s: 0 -> 6:28: contribution_cadence_bars: ${CADENCE}, got 0
a cadence over the limit -> s: 7 -> s: 3651 -> 6:28: contribution_cadence_bars: ${CADENCE}, got 3651
no cadence -> contribution_cadence_bars: 7\n ->  -> 1:1: contribution_cadence_bars: ${CADENCE}, got nothing
costs that are no number -> fee_bps: 10 -> fee_bps: .nan -> 8:12: costs.fee_bps: ${BPS}, got NaN
a negative cost -> slippage_bps: 5 -> slippage_bps: -5 -> 9:17: costs.slippage_bps: ${BPS}, got -5
costs that are missing -> costs:\n  fee_bps: 10\n  slippage_bps: 5\n ->  -> 1:1: costs: expected a map with fee_bps and slippage_bps, got nothing
an unknown key -> alias -> cadence: 7\nalias -> 1:1: unknown key "cadence"; the known keys are alias, instrument, timeframe, window, tiers, contribution_cadence_bars, costs, reference_equity_usd and 2 more
a misspelt key in a part -> fee_bps: 10 -> fee_bps: 10\n  fee_bsp: 1 -> 9:3: costs: unknown key "fee_bsp"; the nearest key is "fee_bps"`,
)('a program with %s is refused at its line and column', async (_, before, after, problem) => {
  expect(await problemsOf(withProgram(before, after))).toEqual([`program.yaml:${problem}`])
})

test.each(
  casesOf`
an equity of 0 -> reference_equity_usd: 0 -> 10:23: reference_equity_usd: expected an amount in dollars from 1 to 1e12, got 0
a status -> tv_status: confirmed -> 10:12: tv_status: expected no such key, because the build determines it from the exports in charting/, got "confirmed"
no tier at all -> tiers: {} -> 10:8: tiers: expected weights that sum to 1, got 0 (no tier)
weights that do not sum to 1 -> tiers: { core: { weight: 0.5 }, cyclical: { weight: 0.4 } } -> 10:8: tiers: expected weights that sum to 1, got 0.9 (core 0.5, cyclical 0.4)
a negative weight -> tiers: { core: { weight: -1 } } -> 10:26: tiers.core.weight: expected a fraction above 0 and at most 1, got -1
a tier that nobody knows -> tiers: { cor: { weight: 1 } } -> 10:10: tiers: unknown key "cor"; the nearest key is "core"
a tier without a weight -> tiers: { core: } -> 10:16: tiers.core: expected a map with a weight, got nothing
bands of a tier that has none -> tiers: { core: { weight: 1, bands: [] } } -> 10:29: tiers.core: unknown key "bands"; the known keys are weight
bands that are no list -> tiers: { cyclical: { weight: 1, bands: 2 } } -> 10:40: tiers.cyclical.bands: expected a list of 1 to 16 bands, got 2
bands that do not ascend -> tiers: { cyclical: { weight: 1, bands: [{ below: 1, spend: 1 }, { below: 1, spend: 0 }] } } -> 10:74: tiers.cyclical.bands[1].below: expected more than 1 of the entry before, got 1
a spend above all cash -> tiers: { cyclical: { weight: 1, bands: [{ below: 1, spend: 2 }] } } -> 10:60: tiers.cyclical.bands[0].spend: ${FRACTION}, got 2
a depth in percent -> tiers: { tactical: { weight: 1, steps: [{ drawdown: 20, spend: 1 }] } } -> 10:53: tiers.tactical.steps[0].drawdown: expected a fraction above 0 and below 1 (0.2 = 20 % below the running high), got 20
a step that is no map -> tiers: { tactical: { weight: 1, steps: [0.2] } } -> 10:41: tiers.tactical.steps[0]: expected a map, got 0.2
paused spans that are no list -> paused: 2021-01-01 -> 10:9: paused: expected a list of spans, got "2021-01-01"
a span that ends before it begins -> paused: [{ from: 2021-02-01, to: 2021-01-01 }] -> 10:34: paused[0].to: expected a day on or after 2021-02-01, got 2021-01-01
spans that overlap -> paused: [{ from: 2021-01-01, to: 2021-02-01 }, { from: 2021-02-01 }] -> 10:56: paused[1].from: expected a day after 2021-02-01, got 2021-02-01
a span after one without an end -> paused: [{ from: 2021-01-01 }, { from: 2021-02-01 }] -> 10:40: paused[1].from: expected no span after one without an end, got 2021-02-01`,
)('a program with %s is refused at its line and column', async (_, line, problem) => {
  expect(await problemsOf(withLines(line))).toEqual([`program.yaml:${problem}`])
})
