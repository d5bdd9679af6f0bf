// The page of limits names each of them, with the value that it has in the code.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LONGEST_URL } from '#api/assert-url-length.ts'
import { LARGE_LIMITS } from '#api/history/large-limits.ts'
import { HTTP_LIMITS } from '#api/http-limits.ts'
import { MOST_OPERATOR_BYTES } from '#api/operator/read-body.ts'
import { MOST_PROGRAM_BYTES } from '#api/signals/program/simulate.ts'
import { MOST_WEBHOOK_BYTES } from '#api/signals/webhook.ts'
import { BLOCK_BYTES } from '#core/render/writing.ts'

const PAGE = join(import.meta.dirname, '../../docs/limits.md')

test('the table of limits is that of the code, no more and no less', () => {
  const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| [^|]+ \| (\d+)[^|]* \| `(\w+)` \|/gm)]
  const told = rows.map(([, value, name]) => [name, Number(value)])
  const bodies = { MOST_WEBHOOK_BYTES, MOST_PROGRAM_BYTES, MOST_OPERATOR_BYTES }
  const inCode = { ...HTTP_LIMITS, ...LARGE_LIMITS, LONGEST_URL, BLOCK_BYTES, ...bodies }
  expect(told.sort()).toEqual(Object.entries(inCode).sort())
})
