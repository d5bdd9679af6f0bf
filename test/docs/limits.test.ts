// The page of limits names each of them, with the value that it has in the code.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LARGE_LIMITS } from '#api/history/answers/computed-answers.ts'
import { LONGEST_URL } from '#api/http/assert-url-length.ts'
import { HTTP_LIMITS } from '#api/http/http-limits.ts'
import { MOST_OPERATOR_BYTES } from '#api/operator/exchange.ts'
import { MOST_PROGRAM_BYTES } from '#api/signals/program/simulate.ts'
import { MOST_WEBHOOK_BYTES } from '#api/signals/routes/client.ts'
import { BLOCK_BYTES } from '#core/dataset/render/writing.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/limits.md'), 'utf8')

const OF_REQUESTS = {
  ...{ ...HTTP_LIMITS, ...LARGE_LIMITS, LONGEST_URL, BLOCK_BYTES },
  ...{ MOST_WEBHOOK_BYTES, MOST_PROGRAM_BYTES, MOST_OPERATOR_BYTES },
}

test('the table of limits is that of the code, no more and no less', () => {
  const rows = [...PAGE.matchAll(/^\| [^|]+ \| (\d+)[^|]* \| `(\w+)` \|/gm)]
  const told = rows.map(([, value, name]) => [name, Number(value)])
  expect(told.sort()).toEqual(Object.entries(OF_REQUESTS).sort())
})

/** The names that bounds have: what is kept, what is done at a time, and how long or large a thing may be. */
const BOUND = /^(?:MOST|LONGEST|LARGEST)_|^(?:CACHE|KEPT|SHORT)_BYTES$|^MEMO_SIZE$/

/** The numbers that a source names. One may be made of two, of which the first or the second has a name. */
function numbersIn(text: string): Map<string, number> {
  const numbers = new Map<string, number>()
  const numberOf = (word: string) => numbers.get(word) ?? Number(word.replaceAll('_', ''))
  const line = /^(?:export )?const ([A-Z][A-Z_]*) = (\w+)(?: (<<|\*|\/) (\w+))?(?: \/\/.*)?$/gm
  for (const [, name = '', left = '', operator, right = ''] of text.matchAll(line)) {
    const [a, b] = [numberOf(left), numberOf(right)]
    numbers.set(name, operator === '<<' ? a << b : operator === '*' ? a * b : operator === '/' ? a / b : a)
  }
  return numbers
}

test('the table of what a process keeps has every bound of the services, with its file and its value', () => {
  const rows = [...PAGE.matchAll(/^\| [^|]+ \| (\d+)[^|]* \| `([\w/.-]+)`: `(\w+)` \|/gm)]
  const told = rows.map(([, value, path, name]) => `${path} ${name} ${value}`)
  const inCode = globSync('**/*.ts', { cwd: join(ROOT, 'api'), exclude: ['operator/**'] }).flatMap(path =>
    [...numbersIn(readFileSync(join(ROOT, 'api', path), 'utf8'))]
      .filter(([name]) => BOUND.test(name) && !(name in OF_REQUESTS))
      .map(([name, value]) => `${path} ${name} ${value}`),
  )
  expect(inCode.length).toBeGreaterThan(10)
  expect(told.sort()).toEqual(inCode.sort())
})
