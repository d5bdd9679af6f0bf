// An answer in blocks is the answer: a stream must not be another rendering.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_PARAMS, PERIODS } from '#core/contract/parameters.ts'
import { renderAnswer, renderBlocks } from '#core/dataset/resources/render-answer.ts'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { forAll } from '#test/support/for-all.ts'
import { anyRisk, anySnapshot } from '../../../support/books/arbitrary-snapshot.ts'
import { handSnapshot } from '../../../support/books/hand-snapshot.ts'

/** Every resource in every format that it has. */
const POINTS = DATASET_ROUTES.flatMap(({ id, formats }) => formats.map(format => ({ id, format })))

const anyPoint = fc.record({
  point: fc.constantFrom(...POINTS),
  period: fc.constantFrom(...PERIODS),
  risk_pct: fc.option(anyRisk),
})

test('the blocks of an answer, one after the other, are its bytes, however small they are', () => {
  forAll(80, anySnapshot, anyPoint, fc.integer({ min: 1, max: 3_000 }), (snapshot, given, size) => {
    const { point, ...rest } = given
    const params = { ...DEFAULT_PARAMS, ...rest, sid: 's0', format: point.format }
    const whole = renderAnswer(point.id, snapshot, params)
    const { blocks, headers } = renderBlocks(point.id, snapshot, params, size)
    expect(Buffer.concat([...blocks]).equals(whole.bytes)).toBe(true)
    expect(headers).toEqual(whole.headers)
  })
})

const days = Float64Array.from({ length: 400 }, (_, i) => ((i * 7919) % 101) / 5000 - 0.01)
const book = handSnapshot(Array.from({ length: 20 }, (_, i) => ({ id: `s${i}`, returns: days })))
const SIZE = 3_000
const LONGEST_ROW = 20 * 25 + 40

test.each(['json', 'csv'] as const)('blocks of %s are at most a row larger than asked for', format => {
  const params = { ...DEFAULT_PARAMS, format, risk_pct: 0.013 }
  const sizes = [...renderBlocks('export', book, params, SIZE).blocks].map(({ length }) => length)
  expect(sizes.length).toBeGreaterThan(20)
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThanOrEqual(SIZE)
  expect(Math.max(...sizes)).toBeLessThan(SIZE + LONGEST_ROW)
})

test('an export in blocks is made no further than it is read: what comes later may still be broken', () => {
  const [first, ...others] = book.strategies
  const values = days.with(300, Number.NaN)
  const broken = { ...book, strategies: [{ ...first!, daily: { ...first!.daily, values } }, ...others] }
  const { blocks } = renderBlocks('export', broken, { ...DEFAULT_PARAMS, risk_pct: 0.013 }, SIZE)
  const made = blocks[Symbol.iterator]()
  for (let i = 0; i < 10; i++) expect(made.next().done).toBe(false)
  expect(() => [...blocks]).toThrow('refusing to publish the number NaN')
})

test('an export in blocks is refused as a whole, before there is a block, if a number at its level is too large', () => {
  const params = { ...DEFAULT_PARAMS, risk_pct: 1e307 }
  const roomy = { ...book, dataset: { ...book.dataset, max_modelled_risk_pct: 1e307 } }
  expect(() => renderBlocks('export', roomy, params)).toThrow('invalid query parameters: risk_pct')
})
