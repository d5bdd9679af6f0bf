// The risk level: what it multiplies, what it leaves alone, and that the answer names it.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toSignificant } from '#core/contract/rounding.ts'
import type { ResourceId } from '#core/dataset/resources/resource.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { forAll } from '#test/support/for-all.ts'
import { anyRisk, anySnapshot } from '../../../support/books/arbitrary-snapshot.ts'
import { handSnapshot } from '../../../support/books/hand-snapshot.ts'
import {
  readCorrelation,
  readCsv,
  readCurve,
  readExport,
  readReturns,
  readStats,
  readTrades,
  textOf,
} from './evaluate.ts'

const period = fc.constantFrom('daily', 'weekly')

/** Holds `law` to every strategy of many datasets. */
const everyStrategy = (law: (snapshot: Snapshot, strategy: StrategyData, risk: number) => void): void =>
  forAll(25, anySnapshot, anyRisk, (snapshot, risk) => {
    for (const strategy of snapshot.strategies) law(snapshot, strategy, risk)
  })

/** What may be null for want of data and is no statistic. */
const FACTS = new Set(['ruin_t', 'leverage_max', 'refused_above_risk_pct'])

const factorOf = (risk: number, { dataset }: Snapshot, { base_risk_pct }: StrategyData): number =>
  Math.min(risk, dataset.max_modelled_risk_pct) / base_risk_pct

test('a rescale to base risk gives the figures, returns and curve of no rescale, to the last digit', () => {
  everyStrategy((snapshot, { id: sid, base_risk_pct: risk_pct }) => {
    expect(readStats(snapshot, { sid, risk_pct }).data).toEqual(readStats(snapshot, { sid }).data)
    expect(readCurve(snapshot, { sid, risk_pct }).data).toEqual(readCurve(snapshot, { sid }).data)
    for (const period of ['daily', 'weekly'] as const) {
      const given = { sid, period }
      expect(readReturns(snapshot, { ...given, risk_pct }).data).toEqual(readReturns(snapshot, given).data)
    }
  })
})

test('every return, daily or weekly, is the base return times risk_pct / base_risk_pct, ruin or not', () => {
  everyStrategy((snapshot, strategy, risk_pct) => {
    const k = factorOf(risk_pct, snapshot, strategy)
    for (const period of ['daily', 'weekly'] as const) {
      const { data } = readReturns(snapshot, { sid: strategy.id, period, risk_pct })
      expect(data.map(({ ret }) => ret)).toEqual(
        Array.from(strategy[period].values, ret => toSignificant(ret * k)),
      )
    }
  })
})

test('at any level the net return is the last point of the curve less 1, and the figures say `ruined` exactly where that is 0, and date it by its first 0, after which it stays there', () => {
  everyStrategy((snapshot, { id: sid }, risk_pct) => {
    const curve = readCurve(snapshot, { sid, risk_pct }).data
    const last = curve.at(-1)!.equity
    const { data } = readStats(snapshot, { sid, risk_pct })
    const rounding = 1e-6 + 100 * last * 1e-9 // six decimals of percent, ten digits of equity
    expect(Math.abs(data.net_return_pct - 100 * (last - 1))).toBeLessThan(rounding)
    const from = curve.findIndex(({ equity }) => equity === 0)
    expect([data.ruined, data.ruin_t]).toEqual([last === 0, curve[from]?.t ?? null])
    expect(from === -1 || curve.slice(from).every(({ equity }) => equity === 0)).toBe(true)
    if (data.ruined) expect([data.net_return_pct, data.max_drawdown_pct]).toEqual([-100, -100])
  })
})

const OF_TRADES = ['trade_count', 'win_rate_pct', 'profit_factor'] as const
const RATIOS = ['sharpe_daily_annualized', 'sortino_daily_annualized', 'sharpe_weekly_annualized'] as const

test('fund_dd, the trade figures and the ledger at any level are those of base risk, and so are the ratios without a ruin; every figure that is null, and no other, has its reason', () => {
  let survived = 0
  everyStrategy((snapshot, { id: sid }, risk_pct) => {
    const base = readStats(snapshot, { sid }).data
    const scaled = readStats(snapshot, { sid, risk_pct }).data
    if (!base.ruined && !scaled.ruined) survived++
    const ratios = base.ruined || scaled.ruined ? [] : RATIOS
    for (const name of ['fund_dd', ...OF_TRADES, ...ratios] as const)
      expect(scaled[name], name).toEqual(base[name])
    const stable = (reasons: Record<string, string>) =>
      Object.entries(reasons).filter(([path]) =>
        ['fund_dd', ...OF_TRADES, ...ratios].some(name => path.startsWith(name)),
      )
    expect(stable(scaled.undefined)).toEqual(stable(base.undefined))
    expect(readTrades(snapshot, { sid, risk_pct }).data).toEqual(readTrades(snapshot, { sid }).data)
    const nulls = Object.entries(scaled).flatMap(([name, value]) => (value === null ? [name] : []))
    const reasoned = Object.keys(scaled.undefined).filter(
      path => !path.includes('/') && path !== 'win_rate_pct',
    )
    expect(reasoned.sort()).toEqual(nulls.filter(name => !FACTS.has(name)).sort())
  })
  expect(survived).toBeGreaterThan(20)
})

test('a column of the export is the series of its strategy at any risk level, and its correlation that of base risk', () => {
  forAll(25, anySnapshot, fc.option(anyRisk), period, (snapshot, risk_pct, period) => {
    const { rows, correlation } = readExport(snapshot, { risk_pct, period }).data
    for (const { id: sid } of snapshot.strategies) {
      const column = rows.flatMap(({ t, rets }) => (sid in rets ? [{ t, ret: rets[sid] }] : []))
      expect(column).toEqual(readReturns(snapshot, { sid, risk_pct, period }).data)
    }
    expect(correlation).toEqual(readCorrelation(snapshot, { period }).data)
  })
})

const [sid, returns] = ['ash', [0.01, -0.02]]
const snapshot = handSnapshot([{ id: sid, returns, leverage_max: 3, refused_above_risk_pct: 0.1 / 3 }])

test('the leverage of a rescale is proportional to the level, and the level of the first refusal is that of the strategy', () => {
  const same = { refused_above_risk_pct: 0.03333333333 }
  expect(readStats(snapshot, { sid }).data).toMatchObject({ ...same, leverage_max: 3 })
  expect(readStats(snapshot, { sid, risk_pct: 0.05 }).data).toMatchObject({ ...same, leverage_max: 7.5 })
})

test('the note of every rescaled answer says that it is arithmetic and no replay, and of no other', () => {
  for (const read of [readStats, readReturns, readCurve, readExport]) {
    expect(read(snapshot, { sid, risk_pct: 0.05 }).meta.note).toMatch(
      /The rescale is arithmetic.*It is not a replay/,
    )
    expect(read(snapshot, { sid }).meta.note).not.toMatch(/replay/)
  }
})

test('a rescaled answer has the level asked for, the level used, and whether it was lowered to the cap; one as CSV in its headers', () => {
  everyStrategy((snapshot, { id: sid, base_risk_pct }, risk_pct) => {
    const cap = snapshot.dataset.max_modelled_risk_pct
    const provenance = {
      modelled: true,
      requested_risk_pct: risk_pct,
      effective_risk_pct: Math.min(risk_pct, cap),
      risk_pct_clamped: risk_pct > cap,
    }
    const level = { risk_pct: Math.min(risk_pct, cap) }
    expect(readStats(snapshot, { sid, risk_pct }).meta).toMatchObject({ ...provenance, base_risk_pct })
    for (const read of [readReturns, readCurve])
      expect(read(snapshot, { sid, risk_pct }).meta).toMatchObject({ ...provenance, ...level, base_risk_pct })
    expect(readExport(snapshot, { risk_pct }).meta).toMatchObject({ ...provenance, ...level })
    for (const id of ['returns', 'curve', 'export'] as const) {
      const { headers } = readCsv(id, snapshot, { sid, risk_pct })
      expect(Number(headers['x-risk-pct-effective'])).toBe(Math.min(risk_pct, cap))
      expect(headers['x-risk-pct-clamped']).toBe(String(risk_pct > cap))
    }
  })
})

test('an answer that is not rescaled has base risk, and nothing of a rescale', () => {
  everyStrategy((snapshot, { id: sid, base_risk_pct }) => {
    const absent = ['requested_risk_pct', 'effective_risk_pct', 'risk_pct_clamped']
    const series = [readReturns(snapshot, { sid }).meta, readCurve(snapshot, { sid }).meta]
    for (const meta of series) expect(meta.risk_pct).toBe(base_risk_pct)
    for (const meta of [...series, readStats(snapshot, { sid }).meta, readExport(snapshot).meta]) {
      expect(meta.modelled).toBe(false)
      expect(Object.keys(meta).filter(key => absent.includes(key))).toEqual([])
    }
    expect(readExport(snapshot).meta.risk_pct).toBeUndefined()
    for (const id of ['returns', 'curve', 'export', 'trades'] as const) {
      expect(Object.keys(readCsv(id, snapshot, { sid }).headers).join()).not.toContain('x-risk')
    }
  })
})

test('a rescaled export has the base risk of every strategy, and one for all only if they agree', () => {
  forAll(25, anySnapshot, anyRisk, (snapshot, risk_pct) => {
    const { meta } = readExport(snapshot, { risk_pct })
    const bases = snapshot.strategies.map(({ id, base_risk_pct }) => [id, base_risk_pct] as const)
    expect(meta.base_risk_pcts).toEqual(Object.fromEntries(bases))
    expect(meta.base_risk_pct).toBe(
      new Set(bases.map(([, base]) => base)).size === 1 ? bases[0]![1] : undefined,
    )
  })
})

const steady = handSnapshot([
  { id: 'alder', base_risk_pct: 0.001, returns: new Float64Array(2500).fill(0.005) },
])
const leap = handSnapshot([{ id: 'alder', base_risk_pct: 1e-250, returns: [1e60, 0] }])
const refusal = (given: string) => ({
  code: 'validation_error',
  details: [
    {
      param: 'risk_pct',
      value: given,
      reason:
        'the figures of the strategy alder pass what a number can hold at this level; ask for a smaller one',
    },
  ],
})
const refused = (id: ResourceId, snapshot: Snapshot, risk_pct: number | null) => {
  try {
    return textOf(id, snapshot, { sid: 'alder', risk_pct }).text
  } catch (error) {
    return error
  }
}

test.each(['curve', 'stats'] as const)('%s refuse a level at which compound figures exceed a number', id => {
  expect(refused(id, steady, 0.1)).toMatchObject(refusal('0.1'))
  expect(refused(id, steady, 5)).toMatchObject(refusal('5')) // as it was asked for, not as it was lowered
  expect(refused(id, steady, 0.01)).toContain('"data"')
})

test.each(['returns', 'export'] as const)('%s answer a level at which compound figures overflow', id => {
  expect(refused(id, steady, 0.1)).toContain('0.5')
})

test.each(['returns', 'export', 'curve', 'stats'] as const)(
  '%s refuse a level at which a return exceeds a number, and answer base risk, asked for or not',
  id => {
    expect(refused(id, leap, 0.1)).toMatchObject(refusal('0.1'))
    for (const level of [1e-250, null]) expect(refused(id, leap, level)).toContain('"data"')
  },
)

test('a level is refused wherever an answer would exceed a number, and no other is', () => {
  const returns = fc.array(fc.double({ min: -0.5, max: 1e4, noNaN: true }), { minLength: 1, maxLength: 70 })
  forAll(200, returns, fc.double({ min: 0.001, max: 0.1, noNaN: true }), (values, risk_pct) => {
    const base = 0.001
    let equity = 1
    for (const value of values) equity *= Math.max(0, 1 + value * (risk_pct / base))
    const snapshot = handSnapshot([{ id: 'alder', base_risk_pct: base, returns: values }])
    const answer = refused('curve', snapshot, risk_pct)
    if (typeof answer === 'string') expect(equity).toBeLessThan(1e307)
    else expect(answer).toMatchObject({ code: 'validation_error' })
  })
})

const CAP = 0.1 // five times the base risk of the book below

const quiet = (days: number): number[] =>
  Array.from({ length: days }, (_, i) => (i % 2 === 0 ? 0.004 : -0.002))

/** Loses 30 % on one day: painful at base risk, fatal at five times that. */
const book = handSnapshot([{ id: 'alder', returns: [...quiet(10), -0.3, ...quiet(400)] }])
const at = { sid: 'alder', risk_pct: CAP }
const RUIN_DAY = '2024-01-11'

test('a ruinous level makes net return, CAGR and drawdown -100, and the ratios null because of `ruin`, and does so at no other level', () => {
  const { data } = readStats(book, at)
  expect(data).toMatchObject({
    ...{ net_return_pct: -100, cagr_pct: -100, max_drawdown_pct: -100, sharpe_daily_annualized: null },
    ...{ sortino_daily_annualized: null, sharpe_weekly_annualized: null, ruined: true, ruin_t: RUIN_DAY },
  })
  const ruin = { sharpe_daily_annualized: 'ruin', sortino_daily_annualized: 'ruin' }
  expect(data.undefined).toMatchObject({ ...ruin, sharpe_weekly_annualized: 'ruin' })
  const survives = { ruined: false, ruin_t: null, sharpe_daily_annualized: expect.any(Number) }
  expect(readStats(book, { sid: 'alder' }).data).toMatchObject(survives)
})
