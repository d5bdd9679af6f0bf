// Ledgers and reported returns that say more than happened, or are too short for a figure of a year: what the build says, and
// what stays on the page.
import { beforeAll, expect, test } from 'vitest'
import { toIsoDate } from '#core/calendar.ts'
import {
  accepting,
  bookOf,
  csv,
  dailyReturns,
  FIRST_DAY,
  ledgerOf,
  returnsOf,
} from '../pipeline/night/night-book.ts'
import { acceptedIn, barsOf, type Forgery, forge } from './forge.ts'

/** Up to the day before the build. Prices rise from 100 to 104 on one day and fall back on the next; each bar is from 99 to 105.04. */
const DAYS = 120
const FROM = FIRST_DAY + 14 - DAYS
const CLOSES = Array.from({ length: DAYS }, (_, i) => (i % 2 === 0 ? 100 : 104))
const noon = (day: number): string => `${toIsoDate(FROM + day)}T12:00:00Z`

type Fills = Readonly<{ entry: number; exit: number; leverage?: number; more?: number; isStop?: boolean }>

/** A ledger of the same trades that states a cost of each, which its results follow. */
const stating = (cost: 'fees' | 'funding', value: number): string => {
  const more = cost === 'fees' ? -value : value
  const lines = ledger(i => ({ ...honest(i), more })).trimEnd()
  return csv(...lines.split('\n').map((line, i) => `${line},${i === 0 ? cost : value}`))
}

const HEAD = 'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,stop,account_return'

/** A ledger of 24 trades of a day each, whose results are those of their prices, and `more`. */
const ledger = (fills: (i: number) => Fills): string =>
  csv(
    HEAD,
    ...Array.from({ length: 24 }, (_, i) => {
      const { entry, exit, leverage = 1, more = 0, isStop = false } = fills(i)
      const times = `long,${noon(4 * i + 1)},${entry},${noon(4 * i + 2)},${exit}`
      const end = isStop ? `stop,${leverage},${exit}` : `signal,${leverage},`
      return `${times},${end},${leverage * (exit / entry - 1) + more}`
    }),
  )

const loses = (i: number): boolean => i % 3 === 2
/** Gains and losses as they come. */
const honest = (i: number): Fills => (loses(i) ? { entry: 103, exit: 101 } : { entry: 101, exit: 102 })

const COSTS = ledger(honest)
const RETURNS = dailyReturns(
  Array.from({ length: DAYS }, (_, i) => (i % 2 === 0 ? 0.012 : -0.001)),
  FROM,
)
const LONG = dailyReturns(
  Array.from({ length: DAYS }, (_, i) => Math.round(1e5 * Math.sin(i * i)) / 1e7),
  FROM,
)

const BOOK = {
  ...bookOf(barsOf(CLOSES, FROM), [
    ledgerOf(
      'fills',
      ledger(i => (loses(i) ? { entry: 105, exit: 102 } : { entry: 99, exit: 105.04 })),
    ),
    ledgerOf(
      'padded',
      ledger(i => ({ ...honest(i), more: 0.0008 })),
      { result_tolerance_bps: 10 },
    ),
    ledgerOf('costs', COSTS, { result_tolerance_bps: 25, commission_bps_per_side: 10 }),
    ledgerOf(
      'risk',
      ledger(i => ({ ...honest(i), leverage: 3, isStop: loses(i) })),
    ),
    ledgerOf(
      'noisy',
      ledger(i => ({ ...honest(i), more: i % 2 === 0 ? 0.009 : -0.005 })),
      { result_tolerance_bps: 100 },
    ),
    ledgerOf('fees', stating('fees', -0.0005), { commission_bps_per_side: 10 }),
    ledgerOf('funding', stating('funding', 0.005)),
    ledgerOf('empty', csv(HEAD)),
    returnsOf('reports', RETURNS),
    returnsOf('always', RETURNS),
    returnsOf('short', dailyReturns([0.05, -0.001], FIRST_DAY + 12), { name: 'Two days' }),
    returnsOf('long', LONG, { name: 'Long' }),
  ]),
  'ledgers/reports.csv': COSTS,
  'ledgers/always.csv': csv(
    HEAD,
    `long,${noon(0)},100,${noon(60)},101,signal,1,,0.01`,
    `long,${noon(60)},101,${noon(118)},100,signal,1,,-0.0099009901`,
    `long,${noon(118)},100,,,,1,,`,
  ),
}

const WHY = 'we are sure'

let forgery: Forgery
let refused: string
beforeAll(async () => {
  forgery = await forge(BOOK)
  const { code, err } = await forgery.build()
  expect(code).toBe(1)
  refused = err
  await forgery.write({
    ...accepting(BOOK, acceptedIn(refused, WHY)),
    'ledgers/padded.csv': COSTS,
    'ledgers/costs.csv': ledger(i => ({ ...honest(i), more: -0.002 })),
    'ledgers/funding.csv': stating('funding', 0.001),
  })
  expect(await forgery.build()).toMatchObject({ code: 0, err: '' })
})

const sheetOf = (id: string) => forgery.page(`strategies/${id}/sheet.html`)
const ACCEPTED = 'This does not show when the rules were written. Accepted finding: '

test('a publisher who adds to every result within the tolerance: the build stops, and what scatters too much for that is on the sheet', async () => {
  expect(refused).toContain(
    'ledgers/padded.csv: the results are better than the prices by 8.0 bp a trade: are costs missing? ',
  )
  expect(await sheetOf('noisy')).toContain(
    'Results given with the trades, to within 100.0 bp of equity: 24 recomputed; in the mean better than the prices by 20.00 bp a trade, and 90.00 bp apart at most',
  )
})

test('a publisher who leaves the costs out of the results: the build stops', async () => {
  expect(refused).toContain(
    'ledgers/costs.csv: the results are better than the prices by 20.0 bp a trade: are costs missing? ',
  )
  expect(await sheetOf('costs')).toContain('Costs 10 bps a side, slippage of 0 ticks of 0.1, funding: none')
  expect(await sheetOf('risk')).toContain('Costs 0 bps a side, slippage of 0 ticks of 0.1, funding: none')
})

test('a publisher who states lower fees than were paid: the sheet has their mean beside the declared commission', async () => {
  expect(await sheetOf('fees')).toContain(
    'Costs 10 bps a side, slippage of 0 ticks of 0.1, funding: none; as the ledger states, 24 of 24 trades paid fees of −5.00 bp of notional in the mean',
  )
})

test('a publisher who states funding that was never paid: the build stops, and what is accepted without payments is on the sheet', async () => {
  expect(refused).toContain(
    'ledgers/funding.csv:2: the trade has a funding of 0.005 of its notional, and the payments while it was open are unknown, so that 0.0015 more or less is accepted: ',
  )
  expect(await sheetOf('funding')).toContain(
    'Costs 0 bps a side, slippage of 0 ticks of 0.1, funding: as reported; as the ledger states, 24 of 24 trades received funding of 10.00 bp of notional in the mean',
  )
})

test('a publisher who fills orders at the lows and highs of bars: the build stops, and what is accepted stands beside the badge', async () => {
  const found =
    '16 of 24 trades enter at the low and leave at the high of their bars, within a tick (shorts the other way round)'
  expect(refused).toContain(`ledgers/fills.csv: perfect_fills of fills: ${found}: give the prices at which`)
  expect(await sheetOf('fills')).toContain(`results recomputed ${ACCEPTED}${found}. Reason: ${WHY}`)
})

test('a publisher who declares less risk than the trades take: the build stops, and the sheet has the measured loss', async () => {
  const found =
    '8 trades that ended at the stop lost 2.91 times the base risk in the median, expected 0.8 to 1.25 times'
  expect(refused).toContain(`ledgers/risk.csv: base_risk of risk: ${found}: state as base_risk_pct what`)
  const sheet = await sheetOf('risk')
  expect(sheet).toContain(`results recomputed ${ACCEPTED}${found}. Reason: ${WHY}`)
  expect(sheet).toContain(
    'Risk 2.00 % of equity per trade, lost at its stop: declared; measured 2.91 times that, the median of 8 trades that ended at their stop',
  )
})

test('a publisher who shows a badge without a trade: the badge says that there is nothing to check yet', async () => {
  const sheet = await sheetOf('empty')
  expect(sheet).toContain(
    'Checked no closed trade nothing to check yet This does not show when the rules were written. ',
  )
  expect(sheet).not.toMatch(/computed twice, equal|results recomputed/)
})

test('a publisher who reports other returns than the ledger beside them makes: the build stops, and the first day that is accepted stands beside the badge', async () => {
  const found =
    'reported returns and ledger differ in 96 periods, first from 2023-09-17 to 2023-09-17: 1.2000 % is reported, and 0.0000 % follows from the ledger'
  expect(refused).toContain(`returns/reports.csv: returns_differ of reports: ${found}: correct the returns`)
  const sheet = await sheetOf('reports')
  expect(sheet).toContain('Checked no return recomputed unverified This does not show when the rules were ')
  expect(sheet).toContain(`Accepted finding: ${found}. Reason: ${WHY}`)
  expect(sheet).toContain('Record reported returns: by its provider; Highwater recomputes none of them')
})

test('a publisher who always has a position in the ledger beside reported returns: the build stops, and that they were not compared stands beside the badge', async () => {
  const found =
    'the ledger has a position at every midnight since 2023-09-17, so the reported returns, 92.6460 % in all, could not be compared with it'
  expect(refused).toContain(`returns/always.csv: returns_differ of always: ${found}: correct the returns`)
  expect(await sheetOf('always')).toContain(`Accepted finding: ${found}. Reason: ${WHY}`)
})

test('a publisher who makes a year of two days: where a figure of a year would stand, the sheet says how short they are', async () => {
  const sheet = await sheetOf('short')
  for (const name of ['CAGR', 'Sharpe', 'Sortino', 'Calmar ratio', 'Alpha, annual'])
    expect(sheet).toContain(`${name} 2 days: too short`)
  expect(sheet).toMatch(/Volatility [\d.]+ % \(2 days\)/)
})

test.each(['index.html', 'explore.html'])(
  'a strategy of two days stands last in the table of %s, as too short',
  async page => {
    const table = (await forgery.page(page)).split('Verified').at(-1)!
    expect(table.indexOf('Long')).toBeGreaterThan(-1)
    expect(table.indexOf('Two days')).toBeGreaterThan(table.indexOf('Long'))
    expect(table).toMatch(/Two days BTCUSDT-PERP -?[−\d.]+ % 2 days: too short -?[−\d.]+ % 2 days: too short/)
  },
)
