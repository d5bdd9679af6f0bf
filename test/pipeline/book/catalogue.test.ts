import { expect, test } from 'vitest'
import { catalogueShape, serviceShape, settingsShape, strategyShape } from '#pipeline/book/catalogue.ts'
import { expectedOf } from '#pipeline/book/field.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { catalogueWith, type Files, GOOD, lines, problemsOf, readChanged } from './book-folder.ts'

const MANY =
  'a list of 1 to 30000 strategies (the documents of a version end there; publish a larger book as several services)'

const text = (expected: string) => `expected a line of text of 1 to ${expected} characters`
const ID =
  'expected an id of 1 to 64 lower-case letters, digits, dashes and underscores that begins with a letter or digit'
const RISK = 'expected a number above 0 and at most 0.1 (a fraction: 0.02 = 2 % of equity)'
const TRIALS = 'expected a whole number of at least 1: how many variants were tried, this one included'
const LEVELS =
  'expected a list of at most 8 ascending risk levels above 0 and at most 0.1 (fractions: 0.01 = 1 % of equity)'
const NINE_LEVELS = '0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09'
const LEVERAGE = 'expected a number above 0 and at most 1000 (notional / account equity)'
const PERIOD = '{ name: x, from: 2020-02-20, to: 2020-02-20 }'
const periods = (list: string) => `engine: a test\n  stress_periods: [${list}]`
const IMPORT = 'bring files from elsewhere into the book with `highwater import`'

test.each([
  ...casesOf`
name: Test histories -> name: 1984 -> 2:9: service.name: ${text('200')}, got 1984
name: Test histories -> name:  -> 2:9: service.name: ${text('200')}, got nothing
name: Test histories -> name: ${'x'.repeat(201)} -> 2:9: service.name: ${text('200')}, got "${'x'.repeat(59)}...
https://example.com/method -> example.com/method -> 3:20: service.methodology_url: expected an http or https URL, got "example.com/method"
https://example.com/method -> javascript:alert(1) -> 3:20: service.methodology_url: expected an http or https URL, got "javascript:alert(1)"
  engine: a test\n ->  -> 2:3: service.engine: ${text('200')}, got nothing
engine: a test -> engine: a test\n  max_modelled_risk_pct: 2 -> 6:26: service.max_modelled_risk_pct: expected a fraction above 0 and at most 1 (0.1 = 10 %), got 2
engine: a test -> engine: a test\n  embargo_days: 1.5 -> 6:17: service.embargo_days: expected a whole number of days from 0 to 3650, got 1.5
engine: a test -> engine: a test\n  disclaimer: "" -> 6:15: service.disclaimer: ${text('2000')}, got nothing
engine: a test -> engine: a test\n  disclamer: x -> 6:3: service: unknown key "disclamer"; the nearest key is "disclaimer"
mark: 4h -> mark: 4H -> 7:9: defaults.mark: expected one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, got "4H"
mark: 4h -> mark: 4h\n  tick_size: 0 -> 8:14: defaults.tick_size: expected a price step above 0, got 0
mark: 4h -> mark: 4h\n  max_leverage: .inf -> 8:17: defaults.max_leverage: ${LEVERAGE}, got Infinity
mark: 4h -> mark: 4h\n  chart_zone: New York -> 8:15: defaults.chart_zone: expected a time zone of the IANA database, such as America/New_York, got "New York"
mark: 4h -> mark: 4h\n  max_leverage: .nan -> 8:17: defaults.max_leverage: ${LEVERAGE}, got NaN
mark: 4h -> mark: 4h\n  commission_bps_per_side: -1 -> 8:28: defaults.commission_bps_per_side: expected a number of basis points from 0 to 1000 (5 = 0.05 %), got -1
mark: 4h -> mark: 4h\n  slippage_ticks: [2] -> 8:19: defaults.slippage_ticks: expected a number of ticks from 0 to 100000, got a list
mark: 4h -> mark: 4h\n  ccy: {USDT: 1} -> 8:8: defaults.ccy: ${text('16')}, got a map
mark: 4h -> mark: 4h\n  instrument: ../secrets -> 8:15: defaults.instrument: expected a name of 1 to 64 letters, digits, dots, dashes and underscores that begins with a letter or digit, other than equal_weight_book, got "../secrets"
mark: 4h -> mark: 4h\n  instrument: equal_weight_book -> 8:15: defaults.instrument: expected a name of 1 to 64 letters, digits, dots, dashes and underscores that begins with a letter or digit, other than equal_weight_book, got "equal_weight_book"
mark: 4h -> mark: 4h\n  base_risk_pct: 0.02 -> 8:3: defaults: unknown key "base_risk_pct"; the known keys are instrument, ccy, denomination, commission_bps_per_side, slippage_ticks, tick_size, max_leverage, result_tolerance_bps and 2 more
id: alder -> id: Alder -> 9:9: strategies[0].id: ${ID}, got "Alder"
id: alder -> id: -alder -> 9:9: strategies[0].id: ${ID}, got "-alder"
id: alder -> id: ${'a'.repeat(65)} -> 9:9: strategies[0].id: ${ID}, got "${'a'.repeat(59)}...
id: alder -> id: 7 -> 9:9: strategies[0].id: ${ID}, got 7
id: birch -> id: alder -> 15:9: strategies[1].id: expected an id of its own, got "alder" again
base_risk_pct: 0.02 -> base_risk_pct: two -> 11:20: strategies[0].base_risk_pct: ${RISK}, got "two"
base_risk_pct: 0.02 -> base_risk_pct: 0 -> 11:20: strategies[0].base_risk_pct: ${RISK}, got 0
base_risk_pct: 0.02 -> base_risk_pct: 2 -> 11:20: strategies[0].base_risk_pct: ${RISK}, got 2
    base_risk_pct: 0.02\n ->  -> 9:5: strategies[0].base_risk_pct: ${RISK}, got nothing
timeframe: 4h -> timeframe: 7h -> 12:16: strategies[0].timeframe: expected one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, got "7h"
    timeframe: 4h\n ->  -> 9:5: strategies[0].timeframe: expected the timeframe of the bars that the module is replayed on, got nothing
source: module -> source: modul -> 13:13: strategies[0].source: expected one of module, ledger, returns, got "modul"
inception: 2020-01-01 -> inception: 2020-02-30 -> 14:16: strategies[0].inception: expected a date as YYYY-MM-DD, got "2020-02-30"
inception: 2020-01-01 -> inception: 20200102 -> 14:16: strategies[0].inception: expected a date as YYYY-MM-DD, got 20200102
mode: LIVE -> mode: live -> 25:11: strategies[2].mode: expected LIVE or DRY_RUN, got "live"
mode: LIVE -> tv_status: confirmed -> 25:16: strategies[2].tv_status: expected no such key, because the build determines it from the exports in charting/, got "confirmed"
mode: LIVE -> allow_overlap: yes -> 25:20: strategies[2].allow_overlap: expected true or false, got "yes"
timeframe: 4h -> replayed_at: 0.01\n    timeframe: 4h -> 12:18: strategies[0].replayed_at: ${LEVELS}, got 0.01
mode: LIVE -> replayed_at: [0.01] -> 25:18: strategies[2].replayed_at: expected no such key, because only a module can be replayed at another risk level, got a list
engine: a test -> engine: a test\n  benchmark: no -> 6:14: service.benchmark: expected true or false, got "no"
engine: a test -> ${periods('{ name: x, from: 2020-02-20, to: 2020-02-19 }')} -> 6:53: service.stress_periods[0].to: expected 2020-02-20, the first day, or a later one, got "2020-02-19"
engine: a test -> ${periods('{ name: x, from: 2020-02-30, to: 2020-03-01 }')} -> 6:37: service.stress_periods[0].from: expected a date as YYYY-MM-DD, got "2020-02-30"
engine: a test -> ${periods(`{ name: ${'x'.repeat(61)}, from: 2020-02-20, to: 2020-02-20 }`)} -> 6:28: service.stress_periods[0].name: ${text('60')}, got "${'x'.repeat(59)}...
engine: a test -> ${periods(`${PERIOD}, ${PERIOD}`)} -> 6:75: service.stress_periods[1].name: expected a name of its own, got "x" again
engine: a test -> ${periods(Array(13).fill(PERIOD).join())} -> 6:19: service.stress_periods: expected a list of at most 12 periods, such as [{ name: The crash, from: 2020-02-20, to: 2020-03-23 }], got a list
mode: LIVE -> file: { path: raw/trades.csv } -> 25:5: strategies[2]: unknown key "file"; ${IMPORT}
strategies:\n -> strategies:\n  - alder\n -> 9:5: strategies[0]: expected a map, got "alder"
mode: LIVE -> mode: LIVE\n    mode: DRY_RUN -> 26:5: expected YAML: Map keys must be unique
strategies:\n -> bars: { X/1d: { path: raw/days.csv } }\nstrategies:\n -> 8:1: unknown key "bars"; ${IMPORT}
strategies:\n -> imports: { ledgers/brich.csv: "tz: UTC" }\nstrategies:\n -> 8:12: imports: unknown key "ledgers/brich.csv"; the nearest key is "ledgers/birch.csv"
strategies:\n -> imports: { ledgers/birch.csv: "tz: UTC", ledgers/birch.csv.gz: "tz: Z" }\nstrategies:\n -> 8:42: imports: unknown key "ledgers/birch.csv.gz"; the nearest key is "ledgers/birch.csv"
mode: LIVE -> tickSize: 1 -> 25:5: strategies[2]: unknown key "tickSize"; the nearest key is "tick_size"`,
  ['name: Test histories', 'name: "two\\nlines"', `2:9: service.name: ${text('200')}, got "two\\nlines"`],
  ...['0', '-3', '2.5', '"12"', '.inf', '[1]'].map(trials => [
    'mode: LIVE',
    `trials: ${trials}`,
    `25:13: strategies[2].trials: ${TRIALS}, got ${trials === '.inf' ? 'Infinity' : trials === '[1]' ? 'a list' : trials}`,
  ]),
  ...['[0]', '[0.01, 0.2]', '[0.02, 0.01]', '[0.01, 0.01]', '[0.01, x]', `[${NINE_LEVELS}]`].map(levels => [
    'timeframe: 4h',
    `replayed_at: ${levels}\n    timeframe: 4h`,
    `12:18: strategies[0].replayed_at: ${LEVELS}, got a list`,
  ]),
])(
  'a catalogue with %j changed to %j is refused with line and column, what was expected and what came',
  async (before, after, problem) => {
    expect(await problemsOf(catalogueWith(before, after))).toEqual([`catalogue.yaml:${problem}`])
  },
)

test.each(casesOf<[string, string, unknown]>`
nothing -> ${''} -> catalogue.yaml:1:1: expected a map, got nothing
a list -> ${'- service\n'} -> catalogue.yaml:1:1: expected a map, got a list
a tab -> ${'service:\n\tname: x\n'} -> catalogue.yaml:2:1: expected YAML: Tabs are not allowed as indentation
an open bracket -> ${'service: {name: x\n'} -> ${expect.stringMatching(/^catalogue.yaml:2:1: expected YAML: Flow map .* must .* end with a }$/)}
two documents -> ${'service: 1\n---\nservice: 2\n'} -> ${expect.stringMatching(/^catalogue.yaml:2:1: expected YAML: Source contains multiple documents/)}
aliases of aliases, which are not expanded -> ${`a: &a [${Array(10).fill('x')}]\n${[...'bcdefg'].map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdef'[i]}`)}]`).join('\n')}`} -> ${expect.stringMatching(/^catalogue.yaml: expected at most 1000 aliased nodes: /)}
an alias without an anchor -> ${'service: *base\n'} -> ${expect.stringMatching(/^catalogue.yaml: expected .* alias.*base/)}`)(
  'a catalogue of another form is refused: %s',
  async (_, content, problem) => {
    expect(await problemsOf({ 'catalogue.yaml': content })).toEqual([problem])
  },
)

test('a catalogue with parts of another form is refused with each of them', async () => {
  expect(
    await problemsOf({ 'catalogue.yaml': 'service: Test\ndefaults: []\nstrategies: {}\nstrategy: 1\n' }),
  ).toEqual([
    'catalogue.yaml:1:10: service: expected a map, got "Test"',
    'catalogue.yaml:2:11: defaults: expected a map, got a list',
    `catalogue.yaml:3:13: strategies: expected ${MANY}, got a map`,
    'catalogue.yaml:4:1: unknown key "strategy"; the nearest key is "strategies"',
  ])
})

test('a catalogue with more strategies than the documents of a version can hold is refused for that alone', async () => {
  const list = Array<number>(30_001).fill(0)
  expect(await problemsOf({ 'catalogue.yaml': `service: 1\nstrategies: [${list}]\n` })).toContain(
    `catalogue.yaml:2:13: strategies: expected ${MANY}, got a list`,
  )
  expect(catalogueShape.strategies.safeParse(list.slice(1)).success).toBe(true)
})

test('anchors, aliases and merge keys of YAML are resolved in the catalogue', async () => {
  const { strategies } = await readChanged({
    'catalogue.yaml': GOOD['catalogue.yaml']
      .replace('base_risk_pct: 0.02', 'base_risk_pct: &risk 0.025')
      .replace('base_risk_pct: 0.01', 'base_risk_pct: *risk')
      .replace('mark: 4h', 'mark: &mark 4h')
      .replace('mode: LIVE', '<<: {mode: LIVE, mark: *mark}'),
  })
  expect(strategies.map(({ base_risk_pct, mode }) => [base_risk_pct, mode])).toEqual([
    [0.025, 'DRY_RUN'],
    [0.025, 'DRY_RUN'],
    [0.03, 'LIVE'],
  ])
})

test('a base risk may reach the cap of its own service, and not exceed it', async () => {
  const cap = (risk: string) => ({
    'catalogue.yaml': GOOD['catalogue.yaml']
      .replace('engine: a test', 'engine: a test\n  max_modelled_risk_pct: 0.025')
      .replace('base_risk_pct: 0.03', `base_risk_pct: ${risk}`),
  })
  expect(await problemsOf(cap('0.025'))).toEqual([])
  expect(await problemsOf(cap('0.026'))).toEqual([
    'catalogue.yaml:24:20: strategies[2].base_risk_pct: expected a number above 0 and at most 0.025 (a fraction: 0.02 = 2 % of equity), got 0.026',
  ])
})

test('trials and the levels of replays are those of the strategy, and a book compares with its instruments', async () => {
  const { strategies, service } = await readChanged(
    catalogueWith('timeframe: 4h', 'trials: 12\n    replayed_at: [0.005, 0.1]\n    timeframe: 4h'),
  )
  expect(strategies.map(({ trials, replayed_at }) => [trials, replayed_at])).toEqual([
    [12, [0.005, 0.1]],
    [null, []],
    [null, []],
  ])
  expect(service.benchmark).toBe(true)
  const off = await readChanged(catalogueWith('engine: a test', 'engine: a test\n  benchmark: false'))
  expect(off.service.benchmark).toBe(false)
})

const STATED = '<<: { commission_bps_per_side: 4, slippage_ticks: 2, tick_size: 0.1, engine: another test }'
const WHY =
  'state in this entry what its maker assumed, where 0 is a statement too, because no default can know it'

test.each(casesOf`
${STATED} -> engine: x -> 1 -> commission_bps_per_side, slippage_ticks and tick_size of a ledger
${STATED} -> <<: { engine: x, tick_size: 1, commission_bps_per_side: 0 } -> 1 -> slippage_ticks of a ledger
${STATED} -> <<: { slippage_ticks: 0, tick_size: 1, commission_bps_per_side: 0 } -> 1 -> engine of a ledger
    commission_bps_per_side: 6\n    slippage_ticks: 0\n ->  -> 2 -> commission_bps_per_side and slippage_ticks of reported returns`)(
  'a history that was made elsewhere is refused if %j in its entry is changed to %j',
  async (before, after, i, missing) => {
    expect(await problemsOf(catalogueWith(before, after))).toEqual([
      expect.stringContaining(`: strategies[${i}]: expected ${missing}, got nothing: ${WHY}`),
    ])
  },
)

test('the assumptions of a history that was made elsewhere are not taken from the defaults of the catalogue, but for the tick of the instrument', async () => {
  const shared = 'mark: 4h\n  commission_bps_per_side: 5\n  slippage_ticks: 2\n  tick_size: 0.1'
  const { 'catalogue.yaml': text } = catalogueWith(STATED, 'engine: x')
  expect(await problemsOf({ 'catalogue.yaml': String(text).replace('mark: 4h', shared) })).toEqual([
    expect.stringContaining('expected commission_bps_per_side and slippage_ticks of a ledger, got nothing'),
  ])
})

test('blank defaults of the catalogue are the built-in ones', async () => {
  const { strategies } = await readChanged({
    ...catalogueWith('defaults:\n  mark: 4h\n', 'defaults:\n'),
    'bars/BTCUSDT-PERP/1d.csv': 't,o,h,l,c,v\n2020-01-01T00:00:00Z,1,1,1,1,1\n',
  })
  expect(strategies[1]).toMatchObject({
    mark: '1d',
    bars: 'BTCUSDT-PERP/1d',
    tick_size: 0.1,
    max_leverage: 15,
  })
})

test.each(casesOf<[string, Files, unknown]>`
a module before its bars -> ${catalogueWith('inception: 2020-01-01', 'inception: 2019-12-31')} -> catalogue.yaml:14:16: strategies[0].inception: expected a day that bars/BTCUSDT-PERP/4h.csv covers whole, 2020-01-01 to 2020-01-01, got 2019-12-31
a module after its bars -> ${catalogueWith('inception: 2020-01-01', 'inception: 2020-01-02')} -> catalogue.yaml:14:16: strategies[0].inception: expected a day that bars/BTCUSDT-PERP/4h.csv covers whole, 2020-01-01 to 2020-01-01, got 2020-01-02
a ledger before its bars -> ${catalogueWith('source: ledger', 'source: ledger\n    inception: 2019-01-01')} -> ${expect.stringMatching(/^catalogue.yaml:19:16: strategies\[1\]\.inception: .* got 2019-01-01$/)}
returns before the first that is reported -> ${catalogueWith('mode: LIVE', 'inception: 2019-12-31')} -> catalogue.yaml:25:16: strategies[2].inception: expected a day that returns/cedar.csv covers whole, 2020-01-01 to 2020-01-03, got 2019-12-31
returns after the last that is reported -> ${catalogueWith('mode: LIVE', 'inception: 2020-01-04')} -> ${expect.stringMatching(/^catalogue.yaml:25:16: strategies\[2\]\.inception: .* got 2020-01-04$/)}
a ledger on bars that cover no whole day -> ${{ ...catalogueWith('source: ledger', 'mark: 1h\n    source: ledger\n    inception: 2020-01-01'), 'bars/BTCUSDT-PERP/1h.csv': lines('t,o,h,l,c,v', '2020-01-01T04:00:00Z,1,1,1,1,1') }} -> ${expect.stringMatching(/^catalogue.yaml:20:16: .*1h\.csv covers whole, of which there is none, got 2020-01-01$/)}`)(
  'an inception of %s is reported at its line in the catalogue',
  async (_, changes, problem) => {
    expect(await problemsOf(changes)).toEqual([problem])
  },
)

test('every field of the catalogue says what is expected of it', () => {
  for (const shape of [catalogueShape, serviceShape, settingsShape, strategyShape(0.1)])
    for (const [key, schema] of Object.entries(shape))
      expect([key, expectedOf(schema)]).toEqual([key, expect.stringMatching(/./)])
})
