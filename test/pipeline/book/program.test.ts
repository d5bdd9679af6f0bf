import { describe, expect, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import { DEFAULT_TIERS } from '#pipeline/book/read-program.ts'
import { GOOD, problemsOf, readChanged } from './book-folder.ts'
import { BARS, PROGRAM, withLines, withProgram } from './program-book.ts'

const day = (text: string): number => parseIsoDate(text) ?? Number.NaN

describe('a sound program', () => {
  test('is read with the defaults of what it leaves out, and its bars beside those of the strategies', async () => {
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
    expect(book.inputs.map(({ path }) => path).slice(-2)).toEqual([
      'program.yaml',
      'bars/BTCUSDT-SPOT/1d.csv',
    ])
  })

  test('shares the bars of a strategy that has the same, and reads them once', async () => {
    const shared = PROGRAM.replace('BTCUSDT-SPOT', 'BTCUSDT-PERP\ntimeframe: 4h')
    const book = await readChanged({ 'program.yaml': shared })
    expect(book.program?.bars).toBe(book.bars.get('BTCUSDT-PERP/4h'))
    expect(book.inputs.filter(({ path }) => path.startsWith('bars/'))).toHaveLength(1)
  })

  test('takes its tiers, bands, steps and paused spans from the file, the tiers in the order of the definition', async () => {
    const book = await readChanged(
      withLines(
        'tiers:',
        '  tactical: { weight: 0.4, steps: [{ drawdown: 0.1, spend: 1 }] }',
        '  cyclical: { weight: 0.6, bands: [{ below: 1, spend: 0.5 }, { below: 2, spend: 0 }] }',
        'paused: [{ from: 2021-01-01, to: 2021-01-31 }, { from: 2022-01-01 }]',
        'reference_equity_usd: 5000',
      ),
    )
    expect(book.program?.plan).toMatchObject({
      tiers: [
        {
          tier: 'cyclical',
          weight: 0.6,
          rule: {
            kind: 'mayer',
            mean_days: 200,
            bands: [
              { below: 1, spend: 0.5 },
              { below: 2, spend: 0 },
            ],
          },
        },
        { tier: 'tactical', weight: 0.4, rule: { kind: 'dips', steps: [{ drawdown: 0.1, spend: 1 }] } },
      ],
      paused: [
        { from: day('2021-01-01'), to: day('2021-01-31') },
        { from: day('2022-01-01'), to: null },
      ],
      reference_equity_usd: 5000,
    })
  })

  test('may have weights that sum to 1 but for the rounding of their sum', async () => {
    const tiers = 'tiers: { core: { weight: 0.1 }, cyclical: { weight: 0.2 }, tactical: { weight: 0.7 } }'
    expect(await problemsOf(withLines(tiers))).toEqual([])
    const off = tiers.replace('0.7', '0.70000001')
    expect(await problemsOf(withLines(off))).toHaveLength(1)
  })

  test('a book without one has none', async () => {
    expect((await readChanged({})).program).toBeNull()
  })
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

test('a program that is no map, and one that is no YAML, is one problem', async () => {
  expect(await problemsOf({ 'program.yaml': '' })).toEqual(['program.yaml:1:1: expected a map, got nothing'])
  expect(await problemsOf({ 'program.yaml': 'alias: [' })).toHaveLength(1)
})

test('every problem is reported at once, with those of the bars and of the rest of the book', async () => {
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
