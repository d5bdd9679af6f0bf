import { expect, test } from 'vitest'
import { yearlyReturns } from '#cli/build-summary.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'

const near = (value: number) => expect.closeTo(value, 10)

test('the years of all strategies stand side by side, in catalogue order, null where a strategy has no day', () => {
  const { strategies } = handSnapshot([
    { id: 'young', first: '2024-12-31', returns: [0.5, -0.1] },
    { id: 'old', first: '2022-12-30', returns: [0.1, 0.1, 0.25] },
    { id: 'between', first: '2023-01-01', returns: [-0.5] },
  ])
  const rows = yearlyReturns(strategies)
  expect(rows).toEqual([
    { strategy: 'young', 2022: null, 2023: null, 2024: near(50), 2025: near(-10) },
    { strategy: 'old', 2022: near(21), 2023: near(25), 2024: null, 2025: null },
    { strategy: 'between', 2022: null, 2023: near(-50), 2024: null, 2025: null },
  ])
  for (const row of rows) expect(Object.keys(row)).toEqual(['2022', '2023', '2024', '2025', 'strategy'])
})

test('yearly returns of no strategies have no rows', () => {
  expect(yearlyReturns([])).toEqual([])
})
