// A risk level at which a day takes everything: the returns still show what was, the account shows what is left.
import { expect, test } from 'vitest'
import { forAll } from '#test/support/for-all.ts'
import { anyRisk, anySnapshot } from '../../../support/books/arbitrary-snapshot.ts'
import { handSnapshot } from '../../../support/books/hand-snapshot.ts'
import { readCurve, readExport, readReturns, readStats } from './evaluate.ts'

const CAP = 0.1 // five times the base risk of the book below

const quiet = (days: number): number[] =>
  Array.from({ length: days }, (_, i) => (i % 2 === 0 ? 0.004 : -0.002))

/** Loses 30 % on one day: painful at base risk, fatal at five times that. */
const book = handSnapshot([{ id: 'alder', returns: [...quiet(10), -0.3, ...quiet(400)] }])
const at = { sid: 'alder', risk_pct: CAP }
const RUIN_DAY = '2024-01-11'

test('a ruinous level leaves the raw product in the returns and in the export', () => {
  expect(readReturns(book, at).data[10]).toEqual({ t: RUIN_DAY, ret: -1.5 })
  expect(readReturns(book, at).data[11]).toEqual({ t: '2024-01-12', ret: 0.02 })
  expect(readExport(book, at).data.rows[10]).toEqual({ t: RUIN_DAY, rets: { alder: -1.5 } })
})

test('a ruinous level makes the curve 0 from that day to its end, and not before', () => {
  const { data } = readCurve(book, at)
  expect(data).toHaveLength(411)
  expect(data.slice(0, 10).every(({ equity }) => equity > 0)).toBe(true)
  expect(data.slice(10).every(({ equity }) => equity === 0)).toBe(true)
})

test('a ruinous level makes net return, CAGR and drawdown -100, and the ratios null because of `ruin`', () => {
  const { data } = readStats(book, at)
  expect(data).toMatchObject({
    net_return_pct: -100,
    cagr_pct: -100,
    max_drawdown_pct: -100,
    sharpe_daily_annualized: null,
    sortino_daily_annualized: null,
    sharpe_weekly_annualized: null,
    ruined: true,
    ruin_t: RUIN_DAY,
  })
  expect(data.undefined).toMatchObject({
    sharpe_daily_annualized: 'ruin',
    sortino_daily_annualized: 'ruin',
    sharpe_weekly_annualized: 'ruin',
  })
})

test('a level at which a day loses exactly everything is ruinous, and one at which it loses less is not', () => {
  const exact = handSnapshot([{ id: 'alder', returns: [0.01, -0.2, 0.01] }])
  expect(readStats(exact, at).data).toMatchObject({ ruined: true, net_return_pct: -100 })
  expect(readReturns(exact, at).data[1]!.ret).toBe(-1)
  const barely = handSnapshot([{ id: 'alder', returns: [0.01, -0.1999, 0.01] }])
  expect(readStats(barely, at).data.ruined).toBe(false)
})

test('a ruinous level says nothing about base risk, at which the account survives', () => {
  const { data } = readStats(book, { sid: 'alder' })
  expect(data.ruined).toBe(false)
  expect(data.ruin_t).toBeNull()
  expect(data.sharpe_daily_annualized).not.toBeNull()
})

test('at any level the figures say `ruined` exactly where the curve ends at 0, and date it by its first 0', () => {
  forAll(30, anySnapshot, anyRisk, (snapshot, risk_pct) => {
    for (const { id: sid } of snapshot.strategies) {
      const curve = readCurve(snapshot, { sid, risk_pct }).data
      const { ruined, ruin_t, net_return_pct, max_drawdown_pct } = readStats(snapshot, {
        sid,
        risk_pct,
      }).data
      expect(ruined).toBe(curve.at(-1)!.equity === 0)
      expect(ruin_t).toBe(curve.find(({ equity }) => equity === 0)?.t ?? null)
      if (ruined) expect([net_return_pct, max_drawdown_pct]).toEqual([-100, -100])
    }
  })
})
