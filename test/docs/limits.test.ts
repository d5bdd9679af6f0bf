// The page of limits names each of them, with the value that it has in the code.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { LARGE_LIMITS } from '#api/history/answers/computed-answers.ts'
import { LONGEST_URL } from '#api/http/exchange.ts'
import { HTTP_LIMITS } from '#api/http/http-server.ts'
import { MOST_OPERATOR_BYTES } from '#api/operator/exchange.ts'
import { MOST_WAITING_TOKENS } from '#api/operator/guard.ts'
import { MOST_PROGRAM_BYTES } from '#api/signals/program/simulate.ts'
import { MOST_WEBHOOK_BYTES } from '#api/signals/routes/client.ts'
import { BLOCK_BYTES } from '#core/dataset/render/text-writer.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/limits.md'), 'utf8')

const OF_REQUESTS = {
  ...{ ...HTTP_LIMITS, ...LARGE_LIMITS, LONGEST_URL, BLOCK_BYTES },
  ...{ MOST_WEBHOOK_BYTES, MOST_PROGRAM_BYTES, MOST_OPERATOR_BYTES, MOST_WAITING_TOKENS },
}

test('the page of limits has every limit of requests with the value of the code, and no other', () => {
  const rows = [...PAGE.matchAll(/^\| [^|]+ \| (\d+)[^|]* \| `(\w+)` \|/gm)]
  const onPage = rows.map(([, value, name]) => [name, Number(value)])
  expect(onPage.sort()).toEqual(Object.entries(OF_REQUESTS).sort())
})

/** The names that bounds have: what is kept, what is done at a time, and how long or large a thing may be. */
const BOUND = /^(?:MOST|LONGEST|LARGEST)_|^(?:CACHE|KEPT|SHORT)_BYTES$/

test('the page of limits has every exported bound of the services, with its file and its value', async () => {
  const rows = [...PAGE.matchAll(/^\| [^|]+ \| (\d+)[^|]* \| `([\w/.-]+)`: `(\w+)` \|/gm)]
  const onPage = rows.map(([, value, path, name]) => `${path} ${name} ${value}`)
  const paths = globSync('**/*.ts', { cwd: join(ROOT, 'api'), exclude: ['operator/**', '**/*.worker.ts'] })
  const bounds = paths.map(async path => {
    const exported: Record<string, unknown> = await import(pathToFileURL(join(ROOT, 'api', path)).href)
    return Object.entries(exported)
      .filter(([name]) => BOUND.test(name) && !(name in OF_REQUESTS))
      .map(([name, value]) => `${path} ${name} ${value}`)
  })
  expect(onPage.sort()).toEqual((await Promise.all(bounds)).flat().sort())
})
