import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import assembled from '#core/kernels/rows.json' with { type: 'json' }

test('the committed kernel of rows is assembled from its source: after a change, run `make kernel`', () => {
  const source = readFileSync(join(import.meta.dirname, '../../../core/kernels/rows.wat'))
  expect(assembled.wat_sha256).toBe(createHash('sha256').update(source).digest('hex'))
})
