import { symlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { readBook } from '#pipeline/book/read-book.ts'
import { casesOf } from '#test/support/cases-of.ts'
import {
  catalogueWith,
  type Files,
  GOOD,
  problemsIn,
  problemsOf,
  readChanged,
  writeFolder,
} from './book-folder.ts'

const LEDGER = GOOD['ledgers/cedar.csv']

test.each(casesOf<[string, Files, string]>`
a module that is not there -> ${{ 'strategies/alder.ts': null, 'strategies/aldre.ts': 'x', 'strategies/README.md': 'x' }} -> catalogue.yaml:13:13: strategies[0].source: expected strategies/alder.ts, got no such file; strategies/ has README.md and aldre.ts
a ledger that is not there -> ${{ 'ledgers/birch.csv': null }} -> catalogue.yaml:18:13: strategies[1].source: expected ledgers/birch.csv or .csv.gz, got no such file; ledgers/ has cedar.csv
returns that are not there -> ${{ 'returns/cedar.csv': null }} -> catalogue.yaml:24:13: strategies[2].source: expected returns/cedar.csv or .csv.gz, got no such file; returns/ has no files
a ledger beside a module -> ${{ 'ledgers/alder.csv': LEDGER }} -> catalogue.yaml:13:13: strategies[0].source: expected alder to have no other source than its module, got ledgers/alder.csv too: remove one
a module and returns beside a ledger -> ${{ 'strategies/birch.ts': 'x', 'returns/birch.csv': GOOD['returns/cedar.csv'] }} -> catalogue.yaml:18:13: strategies[1].source: expected birch to have no other source than its ledger, got strategies/birch.ts and returns/birch.csv too: remove one
a module beside returns -> ${{ 'strategies/cedar.ts': 'x' }} -> catalogue.yaml:24:13: strategies[2].source: expected cedar to have no other source than its returns, got strategies/cedar.ts too: remove one`)(
  'a source of a strategy is a problem of the book if it is %s',
  async (_, files, problem) => {
    expect(await problemsOf(files)).toEqual([problem])
  },
)

const UNKNOWN = 'expected an instrument with bars under bars/, for'

test('an instrument without bars is reported at its place in the catalogue, with those that have some', async () => {
  const own = catalogueWith('source: ledger', 'instrument: BTCUSDT-PREP\n    source: ledger')
  expect(await problemsOf(own)).toEqual([
    `catalogue.yaml:18:17: strategies[1].instrument: ${UNKNOWN} birch, got "BTCUSDT-PREP"; the nearest instrument is "BTCUSDT-PERP"`,
  ])
  const byDefault = catalogueWith('mark: 4h', 'mark: 4h\n  instrument: XRP')
  expect(await problemsOf(byDefault)).toEqual([
    `catalogue.yaml:8:15: defaults.instrument: ${UNKNOWN} alder and birch, got "XRP"; the known instruments are BTCUSDT-PERP`,
    'catalogue.yaml:32:3: funding: unknown key "BTCUSDT-PERP"; the known keys are XRP',
  ])
  expect(await problemsOf({ 'bars/BTCUSDT-PERP/4h.csv': null })).toEqual([
    `catalogue.yaml:9:5: strategies[0].instrument: ${UNKNOWN} alder and birch, got "BTCUSDT-PERP"; there are no bars at all`,
  ])
})

test('files in a book that it does not need are warnings, each with the nearest name', async () => {
  const strays = casesOf`
bars/4h.csv -> known names are BTCUSDT-PERP/1m.csv, BTCUSDT-PERP/1m.csv.gz, BTCUSDT-PERP/3m.csv, BTCUSDT-PERP/3m.csv.gz, BTCUSDT-PERP/5m.csv, BTCUSDT-PERP/5m.csv.gz, BTCUSDT-PERP/15m.csv, BTCUSDT-PERP/15m.csv.gz and 16 more
bars/BTCUSDT-PERP/4hours.csv -> nearest name is "BTCUSDT-PERP/4h.csv"
bars/BTCUSDT-PREP/4h.csv -> nearest name is "BTCUSDT-PERP/4h.csv"
catalog.yaml -> nearest name is "catalogue.yaml"
charting/brich.csv -> nearest name is "birch.csv"
funding/BTCUSDT.csv -> nearest name is "BTCUSDT-PERP.csv"
ledger/ -> nearest name is "ledgers/"
ledgers/brich.csv -> nearest name is "birch.csv"
returns/cedar.txt -> nearest name is "cedar.csv"`
  const files = strays.map(([file = '']) => [file.replace(/\/$/, '/birch.csv'), 'x'] as const)
  const { warnings } = await readChanged(Object.fromEntries(files))
  const sentence = 'expected a file of the book, got another, which is ignored; the'
  expect(warnings).toEqual(strays.map(([file, known]) => ({ file, message: `${sentence} ${known}` })))
})

test('files that belong beside a book give no warning', async () => {
  const { warnings } = await readChanged({
    'README.md': 'x',
    'ledgers/README.md': 'x',
    '.gitignore': 'x',
    '.git/config': 'x',
    'package.json': 'x',
    'node_modules/x/index.js': 'x',
    'tsconfig.json': 'x',
    'strategies/highwater/strategy.ts': 'x',
    'strategies/shared.ts': 'x',
    'bars/BTCUSDT-PERP/1d.csv': 'x',
  })
  expect(warnings).toEqual([])
})

test('two strategies on one set of bars read it once', async () => {
  const { inputs, strategies } = await readChanged(
    catalogueWith('source: ledger', 'source: ledger\n    mark: 4h'),
  )
  expect(strategies.map(({ bars }) => bars)).toEqual(['BTCUSDT-PERP/4h', 'BTCUSDT-PERP/4h', null])
  expect(inputs.filter(({ path }) => path.startsWith('bars/'))).toHaveLength(1)
})

test('a book may be named by a relative path, and be made of links', async () => {
  const [dir, elsewhere] = [
    await writeFolder({ ...GOOD, 'bars/BTCUSDT-PERP/4h.csv': null }),
    await writeFolder(GOOD),
  ]
  await symlink(join(elsewhere, 'bars'), join(dir, 'bars'))
  const { strategies, bars } = await readBook(relative(process.cwd(), dir))
  expect(bars.get('BTCUSDT-PERP/4h')?.bars.t).toHaveLength(3)
  expect(strategies[0]?.source).toMatchObject({ path: join(dir, 'strategies/alder.ts') })
})

test('a link to nowhere is a file that cannot be read', async () => {
  const dir = await writeFolder({ ...GOOD, 'ledgers/birch.csv': null })
  await symlink(join(dir, 'nowhere.csv'), join(dir, 'ledgers/birch.csv'))
  expect(await problemsIn(readBook(dir))).toEqual([
    expect.stringMatching(
      /^ledgers.birch.csv: expected a file that can be read, got another thing \(ENOENT: /,
    ),
  ])
})

test('a catalogue that no one could have written is refused unread', async () => {
  expect(await problemsOf({ 'catalogue.yaml': '#'.repeat(16_000_001) })).toEqual([
    'catalogue.yaml: expected at most 16000000 bytes, got 16000001',
  ])
})
