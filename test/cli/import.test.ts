import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { run } from './made-up.ts'

const DAYS = [1, 2, 3, 4].map(day => `2024-01-0${day},10,12,9,11,5`)
const YAHOO = ['Date,Open,High,Low,Close,Volume', ...DAYS.toReversed(), ''].join('\n')
const LAST_BAR =
  'the last bar may not have been over when the file was made, which the file does not show: compare its volume with the bars before it; --drop-last (drop_last: true) leaves it out'

async function importing(text: string, ...args: readonly string[]) {
  const cwd = await temporaryFolder()
  await writeFiles(cwd, { 'in.csv': text })
  const call = () =>
    run(['import', 'bars', 'in.csv', '--instrument', 'BTC-USD', '--book', 'book', ...args], { cwd })
  const left = async () => (await readdir(cwd, { recursive: true })).sort()
  return { cwd, call, left, ...(await call()) }
}

test('import bars writes a table of the book, and names the format and what was repaired', async () => {
  const { cwd, code, out, err } = await importing(YAHOO, '--tz', 'UTC')
  expect([code, out, err]).toEqual([
    0,
    'bars/BTC-USD/1d.csv: 4 bars of 1d, 2024-01-01T00:00:00Z to 2024-01-04T00:00:00Z, from yahoo/freqtrade\n',
    `note: in.csv: the rows are newest first: reversed\nnote: in.csv: ${LAST_BAR}\n`,
  ])
  expect(await readFile(join(cwd, 'book/bars/BTC-USD/1d.csv'), 'utf8')).toBe(
    ['t,o,h,l,c,v', ...DAYS.map(row => row.replace(',', 'T00:00:00Z,')), ''].join('\n'),
  )
})

test('import bars with --json prints one document', async () => {
  const { out } = await importing(YAHOO, '--tz', 'UTC', '--json')
  expect(JSON.parse(out)).toEqual({
    ...{
      instrument: 'BTC-USD',
      timeframe: '1d',
      bars: 4,
      from: '2024-01-01T00:00:00Z',
      to: '2024-01-04T00:00:00Z',
    },
    ...{ written: ['bars/BTC-USD/1d.csv'], formats: ['yahoo/freqtrade'], ignored: [] },
    findings: [
      { file: 'in.csv', kind: 'newest_first', count: 3, message: 'the rows are newest first: reversed' },
      { file: 'in.csv', kind: 'last_bar', count: 1, message: LAST_BAR },
    ],
  })
})

test('import bars exits 1 with file, row and reason if a file is refused, and writes nothing', async () => {
  const { code, out, err, left } = await importing(YAHOO.replace('2024-01-02', '2.1.2024'), '--tz', 'UTC')
  expect([code, out, err]).toEqual([
    1,
    '',
    'the import has a problem:\n  in.csv:4: t: expected a date with the year first (2026-06-30), got "2.1.2024", whose day and month are ambiguous\n',
  ])
  expect(await left()).toEqual(['in.csv'])
})

test('import bars names a wrong column in one sentence, with the first row and all problems of another kind', async () => {
  const rows = Array.from({ length: 300 }, (_, i) => `${45_292 + i},10,12,9,11,5`)
  const { err } = await importing(
    ['Date,Open,High,Low,Close,Volume', ...rows, '2025-01-01,1,2'].join('\n') + '\n',
  )
  expect(err.split('\n')).toEqual([
    'the import has 2 problems:',
    '  in.csv:2: t: expected a time, got "45292", which looks like the serial date of a spreadsheet (2024-01-01): export the column as text, YYYY-MM-DD (300 rows: 2, 3, 4, 5, 6, 7, 8 and 293 more)',
    '  in.csv:302: expected 6 fields as in the first row of data, got 3',
    '',
  ])
})

test('import bars replaces a table with --replace alone', async () => {
  const { call, cwd } = await importing(YAHOO, '--tz', 'UTC')
  const again = await call()
  expect([again.code, again.err.replaceAll(cwd, '')]).toEqual([
    1,
    'highwater: expected no bars/BTC-USD/1d.csv in /book, got one: --replace writes a new one\n',
  ])
})

test.each([
  [['--tz', 'Berlin'], '--tz: expected UTC, an offset such as +08:00, or a name such as Europe/Amsterdam'],
  [['--timeframe', '7h'], '--timeframe: expected one of 1m'],
  [['--column', 't'], '--column: expected ROLE=NAME or ROLE=PLACE'],
  [['--instrument', '../x'], '--instrument: expected a name of 1 to 64 letters'],
])('import bars exits 2 for %j', async (args, message) => {
  const { code, err } = await importing(YAHOO, ...args)
  expect([code, err]).toEqual([2, expect.stringContaining(message)])
})
