// The explorer without a browser: what an address chooses, and the portfolio of it.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import { dailyPath } from '#core/figures/account-path.ts'
import { headlineFigures } from '#core/figures/performance.ts'
import type { Period, Series } from '#core/figures/series.ts'
import { parseReturns } from '#pages/browser/load-returns.ts'
import { chartCsv } from '#pages/chart-data.ts'
import { MOST_CHOSEN, printChoice, readChoice } from '#pages/explore/choice.ts'
import { exploreFacts, exploreModel } from '#pages/explore/model.ts'
import { SECTIONS } from '#pages/explore/sections.ts'
import { riskSteps } from '#pages/risk-steps.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { handSnapshot } from '../support/books/hand-snapshot.ts'
import { oddBook } from '../support/books/odd-book.ts'
import { forAll } from '../support/for-all.ts'

const wave = (length: number, phase: number) =>
  Array.from({ length }, (_, i) => Math.round(1e6 * (0.0004 + 0.01 * Math.sin(i * 1.7 + phase))) / 1e6)

const snapshot = handSnapshot([
  { id: 'birch', name: 'Birch', first: '2023-01-01', returns: wave(400, 0) },
  {
    id: 'hazel',
    name: '<b>Hazel</b>, "quoted"',
    first: '2023-03-02',
    returns: wave(500, 2),
    base_risk_pct: 0.01,
  },
  { id: 'stump', name: 'Stump', first: '2023-03-02', returns: [0.1, -1, 0.2] },
])
const facts = exploreFacts(snapshot)
const known = new Set(facts.strategies.map(({ id }) => id))
const returns = new Map<string, Series>(snapshot.strategies.map(({ id, daily }) => [id, daily]))

const choose = (query: string) => readChoice(new URLSearchParams(query), known)
const modelOf = (query: string) => exploreModel(facts, returns, choose(query).choice)
const day = (text: string) => parseIsoDate(text)!

test('the address of the explorer holds the choice, and is printed as it is read', () => {
  const { choice, problems } = choose(
    'weights=3,1&with=birch,hazel&days=own&risk_pct=0.010&from=2023-04-01&to=2023-12-31',
  )
  expect(problems).toEqual([])
  expect(choice).toEqual({
    with: ['birch', 'hazel'],
    weights: [3, 1],
    days: 'own',
    risk_pct: 0.01,
    from: day('2023-04-01'),
    to: day('2023-12-31'),
  })
  expect(printChoice(choice)).toBe(
    '?days=own&from=2023-04-01&risk_pct=0.01&to=2023-12-31&weights=3,1&with=birch,hazel',
  )
  expect(choose(printChoice(choice)).choice).toEqual(choice)
  expect(printChoice(choose('').choice)).toBe('')
})

test.each(casesOf<[string, string, object]>`
with=oak,birch -> This version has no strategy oak. -> ${{ with: ['birch'] }}
with=oak -> This version has no strategy oak. -> ${{ with: null }}
with= -> with= in the address is not used: it must name strategies, without blanks. -> ${{ with: null }}
with=birch&weights=1,2 -> The weights are not used: there must be one for each strategy. -> ${{ weights: null }}
with=birch&weights=-1 -> weights=-1 in the address is not used: it must be numbers from 0.000001 to 1000000, separated by commas. -> ${{ weights: null }}
risk_pct=much -> risk_pct=much in the address is not used: it must be a plain decimal number such as 0.02. -> ${{ risk_pct: null }}
from=2023-02-31 -> from=2023-02-31 in the address is not used: it must be a calendar date YYYY-MM-DD. -> ${{ from: null }}
from=2023-03-02&to=2023-03-01 -> The range is not used: 2023-03-02 is later than 2023-03-01. -> ${{ from: null, to: null }}`)(
  'the address %s of the explorer is used as far as it makes sense, with a sentence',
  (query, sentence, expected) => {
    const { choice, problems } = choose(query)
    expect(problems).toEqual([sentence])
    expect(choice).toMatchObject(expected)
  },
)

test('the address of the explorer names twelve strategies at most; weights stay with their strategies', () => {
  const ids = Array.from({ length: MOST_CHOSEN + 1 }, (_, i) => `s${i}`)
  const many = new URLSearchParams({
    with: ['x', ...ids].join(),
    weights: ['x', ...ids].map((_, i) => i + 1).join(),
  })
  const { choice, problems } = readChoice(many, new Set(ids))
  expect(choice.with).toEqual(ids.slice(0, MOST_CHOSEN))
  expect(choice.weights).toEqual(ids.slice(0, MOST_CHOSEN).map((_, i) => i + 2))
  expect(problems).toHaveLength(2)
})

test('a portfolio of one strategy has the published figures of this strategy', () => {
  const { portfolio } = modelOf('with=birch')
  const { cagr_pct, max_drawdown_pct, net_return_pct } = snapshot.strategies[0]!.figures.values
  expect(portfolio?.figures.cagr_pct).toBeCloseTo(Number(cagr_pct), 6)
  expect(portfolio?.figures.max_drawdown_pct).toBeCloseTo(Number(max_drawdown_pct), 6)
  expect(portfolio?.figures.net_return_pct).toBeCloseTo(Number(net_return_pct), 6)
})

test('a portfolio is rescaled to the level by the base risk of each, clamped to the cap, and cut to the range', () => {
  const query = 'with=birch,hazel&weights=3,1&from=2023-04-01&to=2023-12-31'
  const { portfolio, level } = modelOf(`${query}&risk_pct=0.5`)
  expect(level).toEqual({ requested: 0.5, effective: 0.1 })
  const [birch, hazel] = [returns.get('birch')!, returns.get('hazel')!]
  const at = day('2023-04-01')
  const values = Float64Array.from({ length: 275 }, (_, i) => {
    const [a, b] = [birch.values[at + i - birch.first]! * 5, hazel.values[at + i - hazel.first]! * 10]
    return (3 * a + b) / 4
  })
  expect(portfolio?.daily).toEqual({ period: 'daily', first: at, values })
  const expected = headlineFigures(dailyPath({ period: 'daily', first: at, values }))
  expect(portfolio?.figures.max_drawdown_pct).toBeCloseTo(Number(expected.max_drawdown_pct), 6)
})

test('strategies are compared over the days that all have, which their figures and the first sentence say, or each over its own', () => {
  const spans = (query: string) => {
    const { members, portfolio } = modelOf(query)
    return [portfolio!, ...members].map(({ figures: { start, end, n_days } }) => `${start} ${end} ${n_days}`)
  }
  const [common, birch, hazel] = [
    '2023-03-02 2024-02-04 340',
    '2023-01-01 2024-02-04 400',
    '2023-03-02 2024-07-13 500',
  ]
  expect(spans('with=birch,hazel')).toEqual([common, common, common])
  expect(spans('with=birch,hazel&days=own')).toEqual(['2023-01-01 2024-07-13 560', birch, hazel])
  expect(SECTIONS.status(modelOf('with=birch,hazel'))).toMatch(
    /^Over the days that all 2 have: 2 March 2023 to 4 February 2024, 340 days\. /,
  )
  expect(SECTIONS.status(modelOf('with=birch,hazel&days=own'))).toMatch(
    /^Each over its own days, as its row says; /,
  )
  expect(SECTIONS.figures(modelOf('with=birch,hazel&days=own')).match(/\d+ days/g)).toEqual([
    '560 days',
    '400 days',
    '500 days',
  ])
  expect(SECTIONS.status(modelOf('with=birch,hazel&to=2023-03-01'))).toContain('no common day in this range')
})

test.each(casesOf<[string, string]>`
with=ended,other-290,two-days -> ended ends on 24 February 2024, and two-days begins on 30 May 2024
with=usual,no-day -> no-day has no day yet`)(
  'strategies of ?%s, which share no day, are shown each over its own, with the sentence: %s',
  (query, why) => {
    const odd = oddBook(300)
    const daily = new Map(odd.strategies.map(each => [each.id, each.daily]))
    const { choice } = readChoice(new URLSearchParams(query), new Set(daily.keys()))
    const model = exploreModel(exploreFacts(odd), daily, choice)
    expect(SECTIONS.status(model)).toContain(`: ${why}. So each is shown over its own days`)
    for (const { id, daily: shown } of model.members)
      expect(shown.values).toHaveLength(daily.get(id)!.values.length)
  },
)

test('a portfolio has the correlations of the matrix', () => {
  const { rho, size } = snapshot.correlation.daily
  expect(modelOf('with=birch,hazel,stump&days=own').correlation).toEqual([
    [1, Number(rho[1]!.toFixed(8)), null],
    [Number(rho[size]!.toFixed(8)), 1, null],
    [null, null, 1],
  ])
})

test('a portfolio as CSV has a row a day and a column a line', () => {
  const { charts } = modelOf('with=birch,stump&from=2023-03-01&to=2023-03-03&risk_pct=0.02&days=own')
  const rows = chartCsv(charts!.equity).trimEnd().split('\r\n')
  expect(rows.map(row => row.split(',').length)).toEqual([4, 4, 4, 4])
  expect(rows[0]).toBe('t,Birch,Stump,Portfolio')
  expect(rows[1]).toMatch(/^2023-03-01,[\d.]+,,[\d.]+$/)
  expect(rows[3]).toMatch(/^2023-03-03,[\d.]+,0,[\d.]+$/)
})

test.each(['', 'with=stump', 'with=birch&from=2030-01-01', 'with=birch,hazel,stump&risk_pct=0.1'])(
  'every section of the explorer at ?%s is escaped markup without a number that is none',
  query => {
    for (const [name, section] of Object.entries(SECTIONS)) {
      const text = section(modelOf(query))
      expect([name, text]).not.toEqual([name, expect.stringMatching(/NaN|Infinity|undefined|<b>|\[object/)])
    }
  },
)

test('the explorer says why a level cannot be shown', () => {
  const huge = new Map([['birch', { ...returns.get('birch')!, values: Float64Array.of(1e305, 1e305) }]])
  expect(() => exploreModel(facts, huge, choose('with=birch&risk_pct=0.1').choice)).toThrow('risk_pct')
})

const series = (first: number, values: readonly number[], period: Period = 'daily'): Series => ({
  period,
  first,
  values: Float64Array.from(values),
})

test('a published CSV of returns is read back as the doubles that were printed', () => {
  const value = fc.double({ min: -1, max: 10, noNaN: true }).map(number => Number(number.toPrecision(10)) + 0)
  forAll(fc.array(value, { minLength: 1, maxLength: 50 }), values => {
    const days = { from: 19_000, to: 19_000 + values.length - 1 }
    const text = chartCsv({ lines: [{ name: 'ret', kind: 'main', ...series(19_000, values) }], days })
    expect(parseReturns(text, 'daily').get('ret')).toEqual(series(19_000, values))
  })
})

test('a published CSV of returns has weeks, and columns that begin and end on days of their own, empty ones without rows', () => {
  expect(parseReturns('t,ret\r\n2024-01-07,0.1\r\n2024-01-14,-0.2\r\n', 'weekly').get('ret')).toEqual(
    series(19_729, [0.1, -0.2], 'weekly'),
  )
  const wide = parseReturns('t,A,B\r\n2024-01-01,0.1,\r\n2024-01-02,0.2,0.3\r\n2024-01-03,,0.4\r\n', 'daily')
  expect(wide).toEqual(
    new Map([
      ['A', series(19_723, [0.1, 0.2])],
      ['B', series(19_724, [0.3, 0.4])],
    ]),
  )
  expect(parseReturns('t,ret\r\n', 'daily').get('ret')?.values).toHaveLength(0)
  expect(parseReturns('t\r\n', 'daily').size).toBe(0)
})

test.each([
  ['<!doctype html>', 'its first column is'],
  ['t,ret\r\n2024-01-01,0.1\r\n2024-01-03,0.1\r\n', 'row 2 is of 2024-01-03'],
  ['t,ret\r\nyesterday,0.1\r\n', "'yesterday' is no day"],
  ['t,ret\r\n2024-01-01,much\r\n', 'column 2 has a cell that is no number'],
  ['t,ret\r\n2024-01-01,1\r\n2024-01-02,\r\n2024-01-03,1\r\n', 'column 2 has a cell that is no number'],
])('a text that is no published CSV of returns is refused: %j', (text, reason) => {
  expect(() => parseReturns(text, 'daily')).toThrow(reason)
})

test('the steps of risk are round levels, the cap, and the level of the strategy, in order', () => {
  const steps = riskSteps(0.1, 0.0123, 0.7)
  expect(steps.at(-1)).toBe(0.1)
  expect(steps).toContain(0.0123)
  expect(steps).not.toContain(0.7)
  expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b))
  expect(
    steps.filter(level => level !== 0.0123).every(level => String(level).replaceAll(/[0.]/g, '').length <= 3),
  ).toBe(true)
  expect(riskSteps(0.0004)).toEqual([0.0004])
})
