import { expect, test } from 'vitest'
import { casesOf } from '#test/support/cases-of.ts'
import { lines, problemsOf, readChanged } from './book-folder.ts'

const PATH = 'returns/cedar.csv'

test.each(casesOf`
a missing day -> 2020-01-03,0 -> 3: t: expected 2020-01-02, the day after the row before, got 2020-01-03: 1 day is missing
missing days -> 2020-01-05,0 -> 3: t: expected 2020-01-02, the day after the row before, got 2020-01-05: 3 days are missing
a day twice -> 2020-01-01,0 -> 3: t: expected 2020-01-02, the day after the row before, got 2020-01-01
a time instead of a date -> 2020-01-02T00:00:00Z,0 -> 3: t: expected a date as YYYY-MM-DD, got "2020-01-02T00:00:00Z"
a date that is none -> 2020-02-31,0 -> 3: t: expected a date as YYYY-MM-DD, got "2020-02-31"
no return -> 2020-01-02, -> 3: ret: expected a fraction of at least -1 (0.01 = +1 %), got nothing
a loss of more than everything -> 2020-01-02,-1.01 -> 3: ret: expected a fraction of at least -1 (0.01 = +1 %), got "-1.01"
NaN -> 2020-01-02,nan -> 3: ret: expected a fraction of at least -1 (0.01 = +1 %), got "nan"
a gain after the ruin -> 2020-01-02,-1\n2020-01-03,0\n2020-01-04,0.01 -> 5: ret: expected 0 after the day of -1 that ended the account, got "0.01"`)(
  'reported returns with %s are refused',
  async (_, rows, message) => {
    expect(await problemsOf({ [PATH]: lines('t,ret', '2020-01-01,0.01', rows) })).toEqual([
      `${PATH}:${message}`,
    ])
  },
)

test('a day of reported returns that cannot be read is one problem, not one for each day after it', async () => {
  expect(await problemsOf({ [PATH]: lines('t,ret', '2020-01-01,0', '2020-1-2,0', '2020-01-03,0') })).toEqual([
    `${PATH}:3: t: expected a date as YYYY-MM-DD, got "2020-1-2"`,
  ])
})

test('a ruined account stays in the book, at 0 from then on', async () => {
  const book = await readChanged({
    [PATH]: lines('t,ret', '2020-01-01,0.5', '2020-01-02,-1', '2020-01-03,0'),
  })
  expect(book.strategies[2]?.source).toMatchObject({ daily: { values: Float64Array.of(0.5, -1, 0) } })
})

test('reported returns need neither bars nor a ledger', async () => {
  const { strategies, bars, warnings } = await readChanged({
    'catalogue.yaml': `
service: {name: Reported, methodology_url: 'https://example.com', data_source: reported, engine: none}
strategies: [{id: cedar, name: Cedar, base_risk_pct: 0.03, source: returns, commission_bps_per_side: 0, slippage_ticks: 0, tick_size: 0.1, engine: another}]
`,
    'strategies/alder.ts': null,
    'ledgers/birch.csv': null,
    'ledgers/cedar.csv': null,
    'bars/BTCUSDT-PERP/4h.csv': null,
    'funding/BTCUSDT-PERP.csv': null,
  })
  expect(strategies[0]?.source).toMatchObject({ kind: 'returns', ledger: null })
  expect(bars.size).toBe(0)
  expect(warnings).toEqual([])
})
