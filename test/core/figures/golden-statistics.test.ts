import { describe, expect, test } from 'vitest'
import { computeGolden } from './compute-golden.ts'
import { mismatches } from './golden-mismatches.ts'
import { GOLDENS, type Golden, readFixture, readGolden } from './golden-statistics.ts'

describe('golden statistics', () => {
  test('there are the seven of them', () => {
    expect(GOLDENS.length).toBe(7)
  })

  test.each(GOLDENS)('%s: every number, date, flag and reason is what two implementations agree on', file => {
    const { golden, actual } = load(file)
    expect(mismatches(golden, actual)).toEqual([])
  })

  test('the comparison visits every leaf: each one, when it is changed, is a mismatch of its own path', () => {
    const { golden, actual } = load('f7_nine.json')
    const leaves = leavesOf(golden)
    expect(leaves.length).toBeGreaterThan(900)
    const missed = leaves.filter(keys => mismatches(golden, withChanged(actual, keys)).length === 0)
    expect(missed).toEqual([])
  })

  test('the comparison refuses a reason for a figure that is expected to exist', () => {
    const expected = { omega: 1.5, undefined: {} }
    expect(mismatches(expected, { omega: 1.5, undefined: { omega: 'ruin' } })).toHaveLength(1)
    expect(mismatches(expected, { omega: 1.5, undefined: { calmar: 'ruin' } })).toEqual([])
  })
})

function load(file: string): { golden: Golden; actual: object } {
  const golden = readGolden(file)
  const { returns, trades, k } = golden.meta
  return { golden, actual: computeGolden(readFixture(returns, trades), trades, k) }
}

/** The keys that lead to each leaf. */
const leavesOf = (value: unknown): string[][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, child]) => leavesOf(child).map(keys => [key, ...keys]))
    : [[]]

/** A copy in which the leaf at the end of the keys is another. */
function withChanged(value: unknown, [key, ...rest]: string[]): unknown {
  if (key === undefined) return 'changed'
  if (typeof value !== 'object' || value === null) throw new Error(`there is no ${key} to change`)
  const copy: unknown[] | Record<string, unknown> = Array.isArray(value) ? [...value] : { ...value }
  return Object.assign(copy, { [key]: withChanged(Reflect.get(value, key), rest) })
}
