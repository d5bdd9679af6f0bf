import { expect, test } from 'vitest'
import { createProblemList, formatProblem, MAX_PROBLEMS_PER_FILE } from '#pipeline/book/problem.ts'
import { casesOf } from '#test/support/cases-of.ts'

test('problems come by file, then line, then column, in whatever order they were found', () => {
  const problems = createProblemList()
  expect(problems.isEmpty()).toBe(true)
  problems.add({ file: 'b', row: 2, message: '4' })
  problems.add({ file: 'a', line: 10, column: 1, message: '3' })
  problems.add({ file: 'a', line: 9, column: 8, message: '2' })
  problems.add({ file: 'a', line: 9, column: 7, message: '1' })
  problems.add({ file: 'a', line: 9, message: '0' })
  problems.add({ file: 'a', message: '0' })
  expect(problems.isEmpty()).toBe(false)
  expect(problems.sorted().map(({ message }) => message)).toEqual(['0', '0', '1', '2', '3', '4'])
})

test('a file past the cap says how many problems more it has, after the others', () => {
  const problems = createProblemList()
  for (let row = MAX_PROBLEMS_PER_FILE + 2; row > 0; row--)
    problems.add({ file: 'a', row, message: 'm'.repeat(row) })
  problems.add({ file: 'b', row: 1, message: 'm' })
  expect(problems.sorted().slice(-2)).toEqual([
    { file: 'a', message: 'and 2 more problems in this file' },
    { file: 'b', row: 1, message: 'm' },
  ])
  expect(problems.sorted()).toHaveLength(MAX_PROBLEMS_PER_FILE + 2)
})

const sentencesOf = (...messages: readonly string[]) => {
  const problems = createProblemList()
  for (const [i, message] of messages.entries()) problems.add({ file: 'a', row: i + 2, message })
  return problems.sorted().map(formatProblem)
}

const VALUES = ['-1.5e-7', '2024-01-01T00:00:00Z', '"with \\"quotes\\""', '"cut ...', '12']
const MANY = Array.from({ length: 40 }, (_, i) => `got ${i}`)

test.each(casesOf<[string, string[], string[]]>`
three that differ in row and values alone are named one by one -> ${['got 1', 'got 2', 'got 3']} -> ${['a:2: got 1', 'a:3: got 2', 'a:4: got 3']}
more that differ in row and values alone are one sentence -> ${VALUES.map(value => `got ${value}`)} -> ${['a:2: got -1.5e-7 (5 rows: 2, 3, 4, 5, 6)']}
those with another sentence stay apart -> ${[...MANY, 'lacks 7']} -> ${['a:2: got 0 (40 rows: 2, 3, 4, 5, 6, 7, 8 and 33 more)', 'a:42: lacks 7']}
those with another fix to paste stay apart -> ${[1, 2, 3, 4].map(n => `{count: ${n}}`)} -> ${[1, 2, 3, 4].map(n => `a:${n + 1}: {count: ${n}}`)}`)(
  'of problems of rows, %s',
  (_, messages, sentences) => {
    expect(sentencesOf(...messages)).toEqual(sentences)
  },
)
