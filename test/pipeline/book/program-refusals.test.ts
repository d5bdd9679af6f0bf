import { expect, test } from 'vitest'
import { problemsOf } from './book-folder.ts'
import { withLines, withProgram } from './program-book.ts'

const FRACTION = 'expected a fraction from 0 to 1 of the cash of the tier'
const DATE = 'expected a date from 1980 to 2099 as YYYY-MM-DD'
const CADENCE = 'expected a whole number of bars from 1 to 3650'
const BPS = 'expected a number of basis points from 0 to 1000 (5 = 0.05 %)'

test.each<[string, string, string, string]>([
  [
    'an alias that no path could carry',
    'accumulation',
    'My Program',
    '1:8: alias: expected an alias of 1 to 64 lower-case letters, digits, dashes and underscores that begins with a letter or digit, got "My Program"',
  ],
  [
    'an alias that is reserved',
    'accumulation',
    'aliases',
    '1:8: alias: expected an alias of its own, got "aliases", which is reserved: choose another',
  ],
  [
    'an alias that is a strategy',
    'accumulation',
    'birch',
    '1:8: alias: expected an alias of its own, got "birch", a strategy: choose another',
  ],
  [
    'an instrument without bars',
    'BTCUSDT-SPOT',
    'BTCUSDT-SPOTT',
    '2:13: instrument: expected an instrument with bars under bars/, got "BTCUSDT-SPOTT"; there are bars of BTCUSDT-PERP and BTCUSDT-SPOT; the nearest name is "BTCUSDT-SPOT"',
  ],
  [
    'an instrument that is a path',
    'BTCUSDT-SPOT',
    '../secret',
    '2:13: instrument: expected a name of 1 to 64 letters, digits, dots, dashes and underscores that begins with a letter or digit, other than equal_weight_book, got "../secret"',
  ],
  [
    'a timeframe without bars',
    'window',
    'timeframe: 4h\nwindow',
    '3:12: timeframe: expected bars/BTCUSDT-SPOT/4h.csv or .csv.gz, got no such file; bars/BTCUSDT-SPOT/ has 1d.csv',
  ],
  [
    'a timeframe that is too fine',
    'window',
    'timeframe: 15m\nwindow',
    '3:12: timeframe: expected one of 1h, 4h, 1d, got "15m"',
  ],
  ['a day that no calendar has', '2020-01-01', '2020-02-30', `4:9: window.from: ${DATE}, got "2020-02-30"`],
  ['a year that is none of bars', '2029-12-31', '2129-12-31', `5:7: window.to: ${DATE}, got "2129-12-31"`],
  ['a window without an end', '  to: 2029-12-31\n', '', `4:3: window.to: ${DATE}, got nothing`],
  [
    'a window that ends before it begins',
    '2029-12-31',
    '2019-12-31',
    '5:7: window.to: expected a day on or after 2020-01-01, got 2019-12-31',
  ],
  ['a fractional cadence', 's: 7', 's: 7.5', `6:28: contribution_cadence_bars: ${CADENCE}, got 7.5`],
  ['a cadence of 0', 's: 7', 's: 0', `6:28: contribution_cadence_bars: ${CADENCE}, got 0`],
  ['a cadence over the limit', 's: 7', 's: 3651', `6:28: contribution_cadence_bars: ${CADENCE}, got 3651`],
  [
    'no cadence',
    'contribution_cadence_bars: 7\n',
    '',
    `1:1: contribution_cadence_bars: ${CADENCE}, got nothing`,
  ],
  ['costs that are no number', 'fee_bps: 10', 'fee_bps: .nan', `8:12: costs.fee_bps: ${BPS}, got NaN`],
  ['a negative cost', 'slippage_bps: 5', 'slippage_bps: -5', `9:17: costs.slippage_bps: ${BPS}, got -5`],
  [
    'costs that are missing',
    'costs:\n  fee_bps: 10\n  slippage_bps: 5\n',
    '',
    '1:1: costs: expected a map with fee_bps and slippage_bps, got nothing',
  ],
  [
    'an unknown key',
    'alias',
    'cadence: 7\nalias',
    '1:1: unknown key "cadence"; the known keys are alias, instrument, timeframe, window, tiers, contribution_cadence_bars, costs, reference_equity_usd and 2 more',
  ],
  [
    'a misspelt key in a part',
    'fee_bps: 10',
    'fee_bps: 10\n  fee_bsp: 1',
    '9:3: costs: unknown key "fee_bsp"; the nearest key is "fee_bps"',
  ],
])('%s is a problem', async (_, before, after, problem) => {
  expect(await problemsOf(withProgram(before, after))).toEqual([`program.yaml:${problem}`])
})

test.each<[string, string, string]>([
  [
    'an equity of 0',
    'reference_equity_usd: 0',
    '10:23: reference_equity_usd: expected an amount in dollars from 1 to 1e12, got 0',
  ],
  [
    'a status',
    'tv_status: confirmed',
    '10:12: tv_status: expected no such key, because the build determines it from the exports in charting/, got "confirmed"',
  ],
  ['no tier at all', 'tiers: {}', '10:8: tiers: expected weights that sum to 1, got 0 (no tier)'],
  [
    'weights that do not sum to 1',
    'tiers: { core: { weight: 0.5 }, cyclical: { weight: 0.4 } }',
    '10:8: tiers: expected weights that sum to 1, got 0.9 (core 0.5, cyclical 0.4)',
  ],
  [
    'a negative weight',
    'tiers: { core: { weight: -1 } }',
    '10:26: tiers.core.weight: expected a fraction above 0 and at most 1, got -1',
  ],
  [
    'a tier that nobody knows',
    'tiers: { cor: { weight: 1 } }',
    '10:10: tiers: unknown key "cor"; the nearest key is "core"',
  ],
  [
    'a tier without a weight',
    'tiers: { core: }',
    '10:16: tiers.core: expected a map with a weight, got nothing',
  ],
  [
    'bands of a tier that has none',
    'tiers: { core: { weight: 1, bands: [] } }',
    '10:29: tiers.core: unknown key "bands"; the known keys are weight',
  ],
  [
    'bands that are no list',
    'tiers: { cyclical: { weight: 1, bands: 2 } }',
    '10:40: tiers.cyclical.bands: expected a list of 1 to 16 bands, got 2',
  ],
  [
    'bands that do not ascend',
    'tiers: { cyclical: { weight: 1, bands: [{ below: 1, spend: 1 }, { below: 1, spend: 0 }] } }',
    '10:74: tiers.cyclical.bands[1].below: expected more than 1 of the entry before, got 1',
  ],
  [
    'a spend above all cash',
    'tiers: { cyclical: { weight: 1, bands: [{ below: 1, spend: 2 }] } }',
    `10:60: tiers.cyclical.bands[0].spend: ${FRACTION}, got 2`,
  ],
  [
    'a depth in percent',
    'tiers: { tactical: { weight: 1, steps: [{ drawdown: 20, spend: 1 }] } }',
    '10:53: tiers.tactical.steps[0].drawdown: expected a fraction above 0 and below 1 (0.2 = 20 % below the running high), got 20',
  ],
  [
    'a step that is no map',
    'tiers: { tactical: { weight: 1, steps: [0.2] } }',
    '10:41: tiers.tactical.steps[0]: expected a map, got 0.2',
  ],
  [
    'paused spans that are no list',
    'paused: 2021-01-01',
    '10:9: paused: expected a list of spans, got "2021-01-01"',
  ],
  [
    'a span that ends before it begins',
    'paused: [{ from: 2021-02-01, to: 2021-01-01 }]',
    '10:34: paused[0].to: expected a day on or after 2021-02-01, got 2021-01-01',
  ],
  [
    'spans that overlap',
    'paused: [{ from: 2021-01-01, to: 2021-02-01 }, { from: 2021-02-01 }]',
    '10:56: paused[1].from: expected a day after 2021-02-01, got 2021-02-01',
  ],
  [
    'a span after one without an end',
    'paused: [{ from: 2021-01-01 }, { from: 2021-02-01 }]',
    '10:40: paused[1].from: expected no span after one without an end, got 2021-02-01',
  ],
])('%s is a problem', async (_, line, problem) => {
  expect(await problemsOf(withLines(line))).toEqual([`program.yaml:${problem}`])
})
