// Parts of the dataset are parts of the whole answer: what is asked for never changes what a number is.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { DEFAULT_PARAMS } from '#core/contract/parameters.ts'
import { renderAnswer } from '#core/dataset/resources/render-answer.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { forAll } from '#test/support/for-all.ts'
import { anyRisk, anySnapshot } from '../../../support/books/arbitrary-snapshot.ts'
import { handSnapshot } from '../../../support/books/hand-snapshot.ts'
import {
  readCorrelation,
  readCsv,
  readExport,
  readReturns,
  readStats,
  readSummary,
  textOf,
} from './evaluate.ts'
import { BINARY_FORMATS, readTable } from './read-columns.ts'

const period = fc.constantFrom('daily' as const, 'weekly' as const)

/** Days around the datasets: before, inside and after them. */
const day = fc.option(fc.integer({ min: 19_650, max: 19_900 }))

const ranges = fc.tuple(day, day).filter(([from, to]) => from === null || to === null || from <= to)

const isInside =
  (from: number | null, to: number | null) =>
  (t: unknown): boolean => {
    const day = parseIsoDate(String(t))!
    return (from === null || day >= from) && (to === null || day <= to)
  }

test('a range of dates cuts the whole answer and changes nothing in it, at any risk level and period: a week is kept if its Sunday is inside', () => {
  forAll(30, anySnapshot, ranges, period, fc.option(anyRisk), (snapshot, [from, to], period, risk_pct) => {
    for (const { id: sid } of snapshot.strategies) {
      const whole = readReturns(snapshot, { sid, period, risk_pct })
      const part = readReturns(snapshot, { sid, period, risk_pct, from, to })
      expect(part.data).toEqual(whole.data.filter(({ t }) => isInside(from, to)(t)))
      expect(part.meta).toEqual(whole.meta)
      expect(readCsv('returns', snapshot, { sid, period, risk_pct, from, to }).rows).toHaveLength(
        part.data.length,
      )
    }
  })
})

const subset = (snapshot: Snapshot) =>
  fc.shuffledSubarray(
    snapshot.strategies.map(({ id }) => id),
    { minLength: 1 },
  )
const snapshotAndIds = anySnapshot.chain(snapshot => fc.tuple(fc.constant(snapshot), subset(snapshot)))

test('the correlation of a subset of ids is the sub-matrix in the order asked for, and lists its undefined cells with their reasons', () => {
  forAll(30, snapshotAndIds, period, ([snapshot, ids], period) => {
    const whole = readCorrelation(snapshot, { period }).data
    const part = readCorrelation(snapshot, { period, ids }).data
    const at = ids.map(id => whole.ids.indexOf(id))
    expect(part.ids).toEqual(ids)
    expect(part.matrix).toEqual(at.map(row => at.map(column => whole.matrix[row]![column])))
    const sorted = (pairs: typeof whole.undefined_pairs) =>
      pairs
        .map(cell => ({ ...cell, pair: cell.pair.toSorted().join() }))
        .sort((a, b) => (a.pair < b.pair ? -1 : 1))
    const inside = whole.undefined_pairs.filter(({ pair }) => pair.every(id => ids.includes(id)))
    expect(sorted(part.undefined_pairs)).toEqual(sorted(inside))
  })
})

test('the correlation of one strategy is [[1]], even of a flat one', () => {
  const flat = handSnapshot([{ id: 'alder', returns: new Float64Array(40) }])
  const alone = { ids: ['alder'], matrix: [[1]], undefined_pairs: [] }
  expect(readCorrelation(flat, { ids: ['alder'] }).data).toEqual(alone)
})

test('the correlation of an unknown id is refused by its name', () => {
  const book = handSnapshot([{ id: 'alder', returns: [0.01] }])
  const refusal = new ApiError('not_found', "unknown strategy 'oak'")
  expect(() => readCorrelation(book, { ids: ['alder', 'oak', 'elm'] })).toThrow(refusal)
})

test('a cell without a correlation is 0 and listed with its overlap and the reason', () => {
  const wave = Array.from({ length: 60 }, (_, i) => Math.sin(i) / 50)
  const book = handSnapshot([
    { id: 'alder', returns: wave },
    { id: 'birch', returns: new Float64Array(60) },
    { id: 'cedar', first: '2024-02-10', returns: wave },
  ])
  const { data, meta } = readCorrelation(book)
  expect(data.matrix).toEqual([
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ])
  expect(data.undefined_pairs).toEqual([
    { pair: ['alder', 'birch'], overlap: 60, reason: 'zero_variance' },
    { pair: ['alder', 'cedar'], overlap: 20, reason: 'too_few_points' },
    { pair: ['birch', 'cedar'], overlap: 20, reason: 'too_few_points' },
  ])
  expect(meta.note).toContain('3 pairs are undefined')
  expect(readExport(book).meta.note).toContain('3 pairs are undefined')
  const one = { ids: ['alder', 'birch'] }
  expect(readCorrelation(book, one).meta.note).toContain(' 1 pair is undefined')
  const whole = { ids: ['alder'] }
  expect(readCorrelation(book, whole).meta.note).not.toContain('undefined')
})

test('an export of a range of dates has the rows of the whole export in it, empty ones too, in every format, at any risk level and period', () => {
  forAll(25, anySnapshot, ranges, period, fc.option(anyRisk), (snapshot, [from, to], period, risk_pct) => {
    const [all, cut] = [{ period, risk_pct } as const, { period, risk_pct, from, to } as const]
    const inRange = isInside(from, to)
    const [whole, part] = [readExport(snapshot, all), readExport(snapshot, cut)]
    expect(part.data.rows).toEqual(whole.data.rows.filter(({ t }) => inRange(t)))
    expect(part.data.correlation).toEqual(whole.data.correlation)
    const rows = readCsv('export', snapshot, all).rows.filter(([t]) => inRange(t))
    expect(readCsv('export', snapshot, cut).rows).toEqual(rows)
    for (const format of BINARY_FORMATS) {
      const read = (given: object) => {
        const params = { ...DEFAULT_PARAMS, ...given, format }
        return readTable(format, renderAnswer('export', snapshot, params).bytes)
      }
      const table = read(all)
      expect(read(cut)).toEqual({ ...table, rows: table.rows.filter(([t]) => inRange(t)) })
    }
  })
})

test('an export of a range of dates says that the matrix is not cut', () => {
  const book = handSnapshot([{ id: 'alder', returns: [0.01, 0.02] }])
  const { note } = readExport(book, { from: parseIsoDate('2024-01-02') }).meta
  expect(note).toContain('over the whole history: from and to cut the rows alone.')
  expect(readExport(book).meta.note).not.toContain('cut')
})

test.each(['1999-01-01', '2024-02-01'])('an export on %s, outside the history, has no rows', day => {
  const book = handSnapshot([{ id: 'alder', returns: [0.01] }])
  const on = { from: parseIsoDate(day), to: parseIsoDate(day) }
  expect(readExport(book, on).data.rows).toEqual([])
  expect(textOf('export', book, { ...on, format: 'csv' }).text).toBe('t,alder\r\n')
})

const returns = [0.01, -0.02, 0.03]
const oak = { id: 'oak', returns, marking: 'marked' as const }
const elm = { id: 'elm', returns, marking: 'realised' as const }
const yew = { id: 'yew', returns, marking: 'reported' as const }
const book = handSnapshot([oak, elm, yew])

test('the basis of an answer is that of the histories in it, at every risk level, and mixed if they differ', () => {
  const basisOf = (sid: string) => readReturns(book, { sid }).meta.basis
  expect(['oak', 'elm', 'yew'].map(basisOf)).toEqual(['backtested', 'backtested', 'reported'])
  expect(readStats(book, { sid: 'yew', risk_pct: 0.05 }).meta.basis).toBe('reported')
  expect(readSummary(book).meta.basis).toBe('mixed')
  expect(readCorrelation(book, { ids: ['oak', 'elm'] }).meta.basis).toBe('backtested')
  expect(readExport(book, { ids: ['yew'] }).meta.basis).toBe('reported')
  expect(readExport(book, { ids: ['oak', 'yew'] }).meta.basis).toBe('mixed')
})
