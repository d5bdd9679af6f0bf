import { expect, test } from 'vitest'
import { casesOf } from '#test/support/cases-of.ts'
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

test('an export of a charting tool beside a ledger is read: its trades, in the time of its chart, and where it ends', async () => {
  expect(await chartingOf('birch', { [PATH]: `\ufeff${lines(HEADER, EXIT, ENTRY)}` })).toMatchObject([
    {
      path: PATH,
      version: null,
      trades: [
        {
          side: 'long',
          entry: { t: at('2020-01-01T08:15Z'), price: 7240 },
          exit: { t: at('2020-01-02T08:00Z'), price: 7250.5 },
        },
      ],
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
  expect(exports?.map(({ version, trades }) => [version, trades.length])).toEqual([
    ['1', 0],
    ['2.0-beta', 1],
  ])
})

test('a trade that is open at the end of an export of a charting tool has no exit', async () => {
  const open = EXIT.replace(',out,', ',Open,')
  const later = ['2,Exit short,2020-01-03 00:00,Open,7300,1,0', '2,Entry short,2020-01-02 08:00,s,7250.5,1,0']
  const exitsOf = async (...rows: readonly string[]) =>
    (await chartingOf('birch', { [PATH]: lines(HEADER, ...rows) }))?.[0]?.trades.map(
      ({ exit }) => exit?.price,
    )
  expect(await exitsOf(open, ENTRY)).toEqual([undefined])
  expect(await exitsOf(open, ENTRY, ...later)).toEqual([7250.5, undefined])
  expect(await exitsOf('1,Exit long,,,,1,', ENTRY)).toEqual([undefined])
})

const BOTH = lines(HEADER, EXIT, ENTRY)

test.each(casesOf`
another table -> a,b\n1,2\n -> :1: expected columns for trade, type, time, price of the list of trades of a charting tool, got no column for trade in "a,b"
an empty file ->  -> :1: expected a table of the list of trades of a charting tool, got an empty file
another time -> ${BOTH.replace('2020-01-01', 'May')} -> :3: time: expected a time such as 2026-06-30
no price -> ${BOTH.replace('7240', '')} -> :3: price: expected a price above 0, got nothing
a trade twice -> ${BOTH}${ENTRY}\n -> :4: expected one Entry of trade 1, got another
a stray quote -> ${BOTH.replace('7240', '72"40')} -> :3: expected fields whose quotes match, got a stray quote`)(
  'an export of a charting tool with %s is refused with its row',
  async (_, text, message) => {
    expect(await problemsOf({ [PATH]: text })).toEqual([expect.stringMatching(`^${PATH}${message}`)])
  },
)
