import { expect, test } from 'vitest'
import { DEFAULT_PARAMS } from '#core/contract/parameters.ts'
import { renderAnswer } from '#core/dataset/resources/render-answer.ts'
import { dailyFrom } from '#test/support/daily.ts'
import {
  bookOf,
  csv,
  dailyBars,
  dailyReturns,
  FIRST_DAY,
  ledgerOf,
  nightOf,
  ONE_TRADE,
  returnsOf,
} from './night-book.ts'

const CLOSES = [100, 101, 102, 103, 104, 105, 106, 103, 100, 100]

const files = (service = {}, others: readonly ReturnType<typeof ledgerOf>[] = []) =>
  bookOf(
    dailyBars(CLOSES),
    [
      ledgerOf('birch', ONE_TRADE, { inception: '2024-01-03' }),
      ...others,
      returnsOf('cedar', dailyReturns([0.01, 0.02], FIRST_DAY + 1)),
      returnsOf('elm', dailyReturns([0.01, 0.02]), { instrument: 'ETHUSDT-PERP' }),
    ],
    service,
  )

test('the benchmark of an instrument covers the days from the first to the last of the strategies on it; without bars there is none', async () => {
  const { snapshot } = await nightOf(files())
  const returns = CLOSES.slice(1).map((close, i) => Number((close / CLOSES[i]! - 1).toPrecision(10)))
  const daily = dailyFrom(FIRST_DAY + 1, returns)
  expect(snapshot.benchmarks).toEqual([{ instrument: 'BTCUSDT-PERP', daily }])
  const text = (format: 'csv' | 'json') =>
    new TextDecoder().decode(renderAnswer('benchmark', snapshot, { ...DEFAULT_PARAMS, format }).bytes)
  const [head, ...rows] = text('csv').split('\r\n')
  expect(head).toBe('t,BTCUSDT-PERP,equal_weight_book')
  expect(rows.slice(0, 3).map(row => row.split(',').slice(0, 2))).toEqual([
    ['2024-01-01', ''],
    ['2024-01-02', '0.01'],
    ['2024-01-03', '0.009900990099'],
  ])
  const { data } = JSON.parse(text('json'))
  expect(data.instruments).toEqual(['BTCUSDT-PERP'])
  expect(data.rows[1]).toMatchObject({ t: '2024-01-02', rets: { 'BTCUSDT-PERP': 0.01 } })
})

test('the benchmark of an instrument is left out if the catalogue says so: the answer has the equal-weight book alone and says why', async () => {
  const { snapshot } = await nightOf(files({ benchmark: false }))
  const { bytes } = renderAnswer('benchmark', snapshot, DEFAULT_PARAMS)
  const { data, meta } = JSON.parse(new TextDecoder().decode(bytes))
  expect(data.instruments).toEqual([])
  expect(data.rows.length).toBeGreaterThan(0)
  for (const { rets } of data.rows) expect(Object.keys(rets)).toEqual(['equal_weight_book'])
  expect(meta.note).toMatch(/the operator turned the comparison off/)
})

test('the benchmark of an instrument is made of the bars that begin first', async () => {
  const short = csv(
    't,o,h,l,c,v',
    ...[3, 4, 5, 6, 7, 8, 9].map(day => `2024-01-${String(day + 1).padStart(2, '0')}T00:00:00Z,7,7,7,7,1`),
  )
  const header = csv('side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage')
  const oak = ledgerOf('oak', header, { mark: '12h', inception: '2024-01-05' })
  const { snapshot } = await nightOf({ ...files({}, [oak]), 'bars/BTCUSDT-PERP/12h.csv': short })
  expect(snapshot.benchmarks[0]?.daily.values[0]).toBe(0.01)
})
