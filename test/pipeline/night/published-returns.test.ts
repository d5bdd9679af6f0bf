// What anyone computes from the published returns is what is published: no figure needs more digits than these have.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import { toText } from '#core/contract/decimal.ts'
import { DEFAULT_PARAMS, type Params } from '#core/contract/parameters.ts'
import { toCorrelation, toPublishedSeries } from '#core/contract/rounding.ts'
import { publishFigures } from '#core/dataset/resources/figures-on-the-wire.ts'
import { renderAnswer } from '#core/dataset/resources/render-answer.ts'
import type { ResourceId } from '#core/dataset/resources/resource.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { bookFigures } from '#core/figures/book.ts'
import { correlationMatrix } from '#core/figures/correlation.ts'
import { splitFigures } from '#core/figures/figure.ts'
import { performanceFigures } from '#core/figures/performance.ts'
import { completeWeeks, type Period, type Series } from '#core/figures/series.ts'
import { strategyFigures } from '#core/figures/strategy-figures.ts'
import { forAllInTurn } from '#test/support/for-all.ts'
import { returnsOf } from '../../core/figures/arbitraries.ts'
import { catalogue, csv, nightOf, reported } from './night-book.ts'

const IDS = ['ash', 'elm', 'oak'] as const

/** Reported returns with all the digits of a double, of two years and one day more. */
const reportedText = (values: Float64Array): string =>
  csv(
    't,ret',
    ...Array.from(
      values,
      (value, i) => `${new Date(Date.UTC(2024, 0, 1 + i)).toISOString().slice(0, 10)},${toText(value)}`,
    ),
  )

const bookOf = (all: readonly Float64Array[]) => ({
  'catalogue.yaml': catalogue(IDS.map(reported)),
  ...Object.fromEntries(IDS.map((id, i) => [`returns/${id}.csv`, reportedText(all[i]!)])),
})

const textOf = (id: ResourceId, snapshot: Snapshot, params: Partial<Params>): string =>
  new TextDecoder().decode(renderAnswer(id, snapshot, { ...DEFAULT_PARAMS, ...params }).bytes)

const dataOf = (id: ResourceId, snapshot: Snapshot, params: Partial<Params> = {}) =>
  JSON.parse(textOf(id, snapshot, params)).data

const reportedOf = (values: Float64Array): Series => ({
  period: 'daily',
  first: parseIsoDate('2024-01-01')!,
  values,
})

/** A series as a client has it: the numbers in the text of the CSV. */
function downloaded(snapshot: Snapshot, sid: string, period: Period): Series {
  const rows = textOf('returns', snapshot, { sid, period, format: 'csv' }).trim().split('\r\n').slice(1)
  const cells = rows.map(row => row.split(','))
  return {
    period,
    first: parseIsoDate(cells[0]![0]!)!,
    values: Float64Array.from(cells, ([, ret]) => Number(ret)),
  }
}

test('every figure of returns, correlations and the book follow from the returns in the CSV and in the JSON', async () => {
  const anyBook = fc.tuple(...IDS.map(() => returnsOf(732, 732)))
  await forAllInTurn(2, anyBook, async returns => {
    const { snapshot } = await nightOf(bookOf(returns))
    const days = IDS.map(sid => downloaded(snapshot, sid, 'daily'))
    for (const [i, sid] of IDS.entries()) {
      const daily = days[i]!
      const weekly = downloaded(snapshot, sid, 'weekly')
      expect(dataOf('returns', snapshot, { sid }).map(({ ret }: { ret: number }) => ret)).toEqual([
        ...daily.values,
      ])
      expect([...toPublishedSeries(completeWeeks(reportedOf(returns[i]!))).values]).toEqual([
        ...weekly.values,
      ])
      const base = splitFigures(strategyFigures({ daily, weekly, trades: [], base_risk_pct: 0.02 }))
      const expected = { ...publishFigures(base.values), win_rate_pct: 0, undefined: base.undefined }
      expect(dataOf('stats', snapshot, { sid })).toMatchObject(expected)
      const rescaled = splitFigures(performanceFigures(daily, weekly, 0.03 / 0.02))
      expect(dataOf('stats', snapshot, { sid, risk_pct: 0.03 })).toMatchObject(
        publishFigures(rescaled.values),
      )
    }
    const { rho } = correlationMatrix(days)
    const published: number[][] = dataOf('correlation', snapshot).matrix
    expect(published.flat()).toEqual([...rho].map(toCorrelation))
    const { n_days, net_return_pct, max_drawdown_pct, cagr_pct } = splitFigures(bookFigures(days)).values
    expect(dataOf('summary', snapshot).equal_weight_book).toMatchObject(
      publishFigures({
        n_days: n_days!,
        net_return_pct: net_return_pct!,
        max_drawdown_pct: max_drawdown_pct!,
        cagr_pct: cagr_pct!,
      }),
    )
  })
})
