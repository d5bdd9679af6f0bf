// Files that were imported wrongly once, and neighbours of each kind: read with the right values, or refused with the remedy.
import { existsSync, readFileSync } from 'node:fs'
import { cp, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sharedData } from '../support/shared-data.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { run } from './made-up.ts'

const folder = join(sharedData ?? '', 'cases')
const skip = sharedData === null ? ' (skipped: no such files on this machine)' : ''

const caseSchema = z.object({
  ...{ case: z.string(), import: z.string(), file: z.string(), must: z.string(), file_has: z.string() },
  ...{ arguments: z.array(z.string()), beside_bars: z.boolean() },
})
const CASES =
  sharedData !== null && existsSync(folder)
    ? z.array(caseSchema).parse(JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')))
    : []

/** After everything in the files. */
const NOW_MS = Date.parse('2026-11-01T00:00:00Z')

async function importing({ import: kind, file, arguments: args, beside_bars }: z.infer<typeof caseSchema>) {
  const cwd = await temporaryFolder()
  if (beside_bars) await cp(join(folder, 'book'), join(cwd, 'book'), { recursive: true })
  await cp(join(folder, 'inputs', file), join(cwd, file))
  const answer = await run(['import', kind, file, '--book', 'book', ...args], { cwd, now: () => NOW_MS })
  const table = async (path: string): Promise<string[][]> =>
    (await readFile(join(cwd, 'book', path), 'utf8'))
      .trimEnd()
      .split('\n')
      .slice(1)
      .map(line => line.split(','))
  return { ...answer, cwd, table }
}

/** What the tables of a book must have where the file is read. */
const RIGHT: Readonly<Record<string, (rows: string[][]) => unknown>> = {
  '01': rows => rows[0]?.[5] === '1247.7175',
  '04': rows => rows.at(-1)?.[5] === '1433.0842',
  '06': rows => rows[0]?.[0] === '2024-01-01T00:00:00Z',
  '06c': rows => rows[0]?.[0] === '2024-01-01T00:00:00Z',
  '21': rows => rows.filter(([side]) => side === 'short').length === 20 && rows.length === 40,
  '21c': rows => rows.filter(([side]) => side === 'short').length * 2 === rows.length,
  '21r': rows => rows.filter(([side]) => side === 'short').length === 20,
  '22': rows => rows.filter(([side]) => side === 'short').length * 2 === rows.length,
  '23b': rows => rows.at(-1)?.[3] === '',
  '23r': rows => rows.at(-1)?.[3] === '',
  '24c': rows => Math.abs(rows.reduce((equity, row) => equity * (1 + Number(row[8])), 1) - 1.0306) < 1e-3,
  '26': rows => rows.length === 41 && rows.filter(row => row[3] === '').length === 1,
  '60c': rows => rows.some(row => row[5] === '209.5'),
  '70': rows => rows[0]?.[5] === '1247.7175',
  '70c': rows => rows[1]?.[5] === '1394.3617',
}

describe.skipIf(CASES.length === 0)(`files${skip}`, () => {
  test.each(CASES.map(each => [each.case, each.file_has, each] as const))(
    'the file %s (%s) is read with the right values, or refused',
    async (id, _, each) => {
      const { code, err, table, cwd } = await importing(each)
      const path =
        each.import === 'bars' ? null : each.import === 'ledger' ? 'ledgers/a.csv' : 'returns/r.csv'
      if (code !== 0) {
        expect(each.must, err).toMatch(/refuse/)
        expect(existsSync(join(cwd, 'book/ledgers')) || existsSync(join(cwd, 'book/returns'))).toBe(false)
        expect(err).toContain(basename(each.file).slice(0, 2))
        return
      }
      expect(each.must).toMatch(/read|shift/)
      const right = RIGHT[id]
      if (right === undefined) return
      const frames = ['1m', '5m', '15m', '1h', '4h', '1d'].map(name => `bars/X/${name}.csv`)
      const own = path ?? frames.find(name => existsSync(join(cwd, 'book', name)))!
      expect(right(await table(own)), JSON.stringify((await table(own)).slice(0, 3))).toBe(true)
    },
  )
})
