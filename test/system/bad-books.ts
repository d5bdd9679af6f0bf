// What can be wrong with a book, done to copies of the tiny one, and what an operator has to read about it.
import { appendFile, cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { TINY_BOOK } from '../support/books/publish-book.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

export const BARS = 'bars/BTCUSDT-PERP/1d.csv'
export const LEDGER = 'ledgers/beech.csv'
export const MODULE = 'strategies/ash.ts'

/** Damages a copy of the tiny book. */
export type Damage = (book: string) => Promise<void>

/** A damage, and parts of what is said about it. */
type Case = readonly [what: string, damage: Damage, expected: readonly string[]]

export const BAD_BOOKS: readonly Case[] = [
  [
    'a CSV that is cut off in a line',
    edit(BARS, text => text.slice(0, -9)),
    [`${BARS}:420: expected a line break at the end of the last line, got the end of the file`],
  ],
  [
    'a gzip file that is cut off',
    async book => {
      const text = await readFile(join(book, LEDGER))
      await rm(join(book, LEDGER))
      await writeFile(join(book, `${LEDGER}.gz`), gzipSync(text).subarray(0, -20))
    },
    [`${LEDGER}.gz:`, 'expected a whole gzip stream, got its beginning: the file is cut off'],
  ],
  [
    'a price that is not a number',
    editRow(BARS, 101, row => row.replace(/,[^,]*,([^,]*)$/, ',NaN,$1')),
    [`${BARS}:101: c: expected a price above 0, got "NaN"`],
  ],
  [
    'a return that is not a number',
    editRow('returns/elm.csv', 7, row => row.replace(/,.*/, ',NaN')),
    ['returns/elm.csv:7: ret: expected', 'got "NaN"'],
  ],
  [
    'a bar twice',
    editRow(BARS, 50, row => `${row}\n${row}`),
    [`${BARS}:51: t: expected each time once, got 2024-02-18T00:00:00Z again`],
  ],
  [
    'two bars in the wrong order',
    edit(BARS, text => text.replace(/^(2024-03-05T.*)\n(2024-03-06T.*)$/m, '$2\n$1')),
    [`${BARS}:67: t: expected a time after 2024-03-06T00:00:00Z`],
  ],
  [
    'a bar whose high is below its close',
    editRow(BARS, 10, row => row.replace(/^([^,]*),([^,]*),[^,]*,/, '$1,$2,1,')),
    [`${BARS}:10: h: expected a high of at least`],
  ],
  [
    'a trade that exits before it enters',
    edit(LEDGER, text => text.replace('2024-02-10T00:00:00Z', '2024-01-10T00:00:00Z')),
    [`${LEDGER}:2: `, 'exit_time'],
  ],
  [
    'a fill outside its bar',
    edit(LEDGER, text => text.replace('40267.5', '50267.5')),
    [`${LEDGER}:2: the trade has its `, '50267.5'],
  ],
  [
    'an instrument without bars',
    edit('catalogue.yaml', text => text.replace('id: beech,', 'id: beech, instrument: DOGEUSDT-PERP,')),
    [
      'catalogue.yaml:10:30: strategies[1].instrument: expected an instrument with bars under bars/, for beech, got ' +
        '"DOGEUSDT-PERP"; there are bars of BTCUSDT-PERP',
    ],
  ],
  [
    'an instrument that has no bars of the timeframe',
    edit('catalogue.yaml', text => text.replace('id: beech,', 'id: beech, mark: 1h,')),
    [
      'bars/BTCUSDT-PERP/1h.csv: expected bars for beech, plain or .csv.gz, got no such file; bars/BTCUSDT-PERP/ has 1d.csv',
    ],
  ],
  [
    'an inception before the first reported return',
    edit('catalogue.yaml', text => text.replace('inception: 2024-02-05', 'inception: 2024-01-30')),
    [
      'catalogue.yaml:11:',
      'inception: expected a day that returns/elm.csv covers whole, 2024-01-31 to 2025-02-23',
    ],
  ],
  [
    'two strategies with one id',
    edit('catalogue.yaml', text => text.replace('id: yew,', 'id: elm,')),
    ['catalogue.yaml:12:', 'expected an id of its own, got "elm" again'],
  ],
  [
    'two sources for one strategy',
    book => cp(join(book, LEDGER), join(book, 'ledgers/ash.csv')),
    [
      'catalogue.yaml:9:',
      'expected ash to have no other source than its module, got ledgers/ash.csv too: remove one',
    ],
  ],
  [
    'a module that throws at a bar',
    edit(MODULE, text =>
      text.replace('onBar(', "onBar(): never { throw new Error('no such bar') },\n  was("),
    ),
    [`${MODULE}:13:`, ': no such bar'],
  ],
  [
    'a module that throws while it is imported',
    async book => appendFile(join(book, MODULE), "throw new RangeError('too early')\n"),
    [`${MODULE}:21:`, 'RangeError: too early'],
  ],
  [
    'a module that is no TypeScript',
    async book => appendFile(join(book, MODULE), 'export const = 1\n'),
    [`${MODULE}:21: SyntaxError: `],
  ],
  [
    'a module that ends the process',
    edit(MODULE, text => text.replace('onBar(', 'onBar(): never { return process.exit(0) },\n  was(')),
    [`${MODULE}:13:`, 'process is not defined'],
  ],
]

/** A damaged copy of the tiny book. */
export async function damagedBook(damage: Damage): Promise<string> {
  const book = join(await lastingFolder(), 'book')
  await cp(TINY_BOOK, book, { recursive: true })
  await damage(book)
  return book
}

/** Rewrites a file of the book; a damage that changes nothing is a mistake of the test. */
export function edit(path: string, change: (text: string) => string): Damage {
  return async book => {
    const file = join(book, path)
    const text = await readFile(file, 'utf8')
    const changed = change(text)
    if (changed === text) throw new Error(`the damage left ${path} as it was`)
    await writeFile(file, changed)
  }
}

/** Rewrites one line of a file, counted from 1 as editors count. */
export function editRow(path: string, row: number, change: (line: string) => string): Damage {
  return edit(path, text =>
    text
      .split('\n')
      .map((line, i) => (i === row - 1 ? change(line) : line))
      .join('\n'),
  )
}
