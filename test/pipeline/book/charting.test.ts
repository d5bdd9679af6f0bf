import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedData } from '../../support/shared-data.ts'
import { lines, problemsOf, readChanged } from './book-folder.ts'

const PATH = 'charting/birch.csv'
const HEADER = 'Trade #,Type,Date and time,Signal,Price USDT,Size (qty),Net P&L %'
const EXIT = '1,Exit long,2020-01-02 08:00,out,7250.5,1,0.14'
const ENTRY = '1,Entry long,2020-01-01 08:15,"in, at once",7240,1,0.14'

const at = (text: string): number => Date.parse(text)

async function chartingOf(id: string, files: Readonly<Record<string, string>>) {
  const { strategies } = await readChanged(files)
  return strategies.find(strategy => strategy.id === id)?.charting
}

test('an export beside a ledger is read: its entries, in the time of its chart, and where it ends', async () => {
  expect(await chartingOf('birch', { [PATH]: `\ufeff${lines(HEADER, EXIT, ENTRY)}` })).toMatchObject([
    {
      path: PATH,
      version: null,
      entries: [{ side: 'long', t: at('2020-01-01T08:15Z'), price: 7240 }],
      end: at('2020-01-02T08:00Z'),
    },
  ])
})

test('the export of a module has the version in its name', async () => {
  const files = {
    'charting/alder.1.csv': lines(HEADER),
    'charting/alder.2.0-beta.csv': lines(HEADER, EXIT, ENTRY),
  }
  const exports = await chartingOf('alder', files)
  expect(exports?.map(({ version, entries }) => [version, entries.length])).toEqual([
    ['1', 0],
    ['2.0-beta', 1],
  ])
})

test('a file that is named after no strategy is a warning', async () => {
  const { warnings } = await readChanged({ 'charting/brich.csv': lines(HEADER) })
  expect(warnings).toEqual([expect.objectContaining({ file: 'charting/brich.csv' })])
})

describe('what is no export is refused with its row', () => {
  test.each([
    [
      'another table',
      lines('a,b', '1,2'),
      ':1: expected the list of trades of a charting tool, .* got "a,b"',
    ],
    ['an empty file', '', ': expected the list of trades of a charting tool, .* got an empty file'],
    [
      'another type',
      lines(HEADER, EXIT.replace('Exit', 'Hold')),
      ':2: expected Entry or Exit long or short, got ',
    ],
    [
      'another time',
      lines(HEADER, EXIT, ENTRY.replace('2020-01-01', 'May')),
      ':3: expected a time as 2026-06-30',
    ],
    ['no price', lines(HEADER, EXIT, ENTRY.replace('7240', '')), ':3: expected a price above 0, got nothing'],
    [
      'a stray quote',
      lines(HEADER, EXIT, ENTRY.replace('7240', '72"40')),
      ':3: expected a table, got Invalid',
    ],
  ])('%s', async (_, text, message) => {
    expect(await problemsOf({ [PATH]: text })).toEqual([expect.stringMatching(`^${PATH}${message}`)])
  })
})

const folder = sharedData === null ? '' : join(sharedData, 'ledgers/tradingview')
const EXPORTS =
  sharedData === null
    ? []
    : readdirSync(folder).filter(name => name.endsWith('.csv') && !name.startsWith('bars'))

test.skipIf(sharedData === null)('real exports of every generation are read', async () => {
  expect(EXPORTS.length).toBeGreaterThan(4)
  for (const name of EXPORTS) {
    const text = readFileSync(join(folder, name), 'utf8')
    const [charting] = (await chartingOf('birch', { [PATH]: text })) ?? []
    const rows = text
      .trim()
      .split('\n')
      .filter(line => /,Entry (?:long|short),/.test(line))
    expect([name, charting?.entries.length]).toEqual([name, rows.length])
  }
})
