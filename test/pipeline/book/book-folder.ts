import type { Book } from '#pipeline/book/book.ts'
import { BookError, formatProblem } from '#pipeline/book/problem.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'

/** A folder as it is to be: text or bytes by path; null for a file that is not there. */
export type Files = Readonly<Record<string, string | Uint8Array | null>>

/** Writes the files into a new folder, which is gone after the test that asked for it. */
export async function writeFolder(files: Files): Promise<string> {
  const dir = await temporaryFolder()
  await writeFiles(dir, Object.fromEntries(Object.entries(files).flatMap(present)))
  return dir
}

const present = ([path, content]: [string, Files[string]]): [string, string | Uint8Array][] =>
  content === null ? [] : [[path, content]]

/** Lines as a file has them: each with its line break. */
export const lines = (...rows: readonly string[]): string => rows.map(row => `${row}\n`).join('')

/** A small sound book with one strategy of each source. */
export const GOOD = {
  'catalogue.yaml': `service:
  name: Test histories
  methodology_url: https://example.com/method
  data_source: bars made for a test
  engine: a test
defaults:
  mark: 4h
strategies:
  - id: alder
    name: Alder
    base_risk_pct: 0.02
    timeframe: 4h
    source: module
    inception: 2020-01-01
  - id: birch
    name: Birch
    base_risk_pct: 0.01
    source: ledger
    <<: { commission_bps_per_side: 4, slippage_ticks: 2, tick_size: 0.1, engine: another test }
  - id: cedar
    name: Cedar
    blurb: Reported by another desk.
    base_risk_pct: 0.03
    source: returns
    mode: LIVE
    commission_bps_per_side: 6
    slippage_ticks: 0
    tick_size: 0.1
    engine: another desk
funding:
  BTCUSDT-PERP: 8h
`,
  'bars/BTCUSDT-PERP/4h.csv': lines(
    't,o,h,l,c,v',
    '2020-01-01T00:00:00Z,7200,7250.5,7190,7240,1000.25',
    '2020-01-01T04:00:00Z,7240,7260,7100,7110.1,',
    '2020-01-01T16:00:00Z,7110.1,7300,7110.1,7290,0',
  ),
  'funding/BTCUSDT-PERP.csv': lines('t,rate', '2020-01-01T00:00:00Z,0.0001', '2020-01-01T08:00:00Z,-0.00025'),
  'strategies/alder.ts': 'export const strategy = {}\n',
  'ledgers/birch.csv': lines(
    'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,stop,account_return',
    'short,2020-01-01T04:00:00Z,7240,2020-01-01T16:00:00Z,7110.1,signal,0.5,,0.0085',
    'long,1577836800000,7200,2020-01-01T04:00:00Z,7240,time,,7100,',
    'long,2020-01-01T16:00:00Z,7110.1,,,,,7000,',
  ),
  'returns/cedar.csv': lines('t,ret', '2020-01-01,0.01', '2020-01-02,-0.005', '2020-01-03,0'),
  'ledgers/cedar.csv': lines(
    'side,entry_time,entry_price,exit_time,exit_price,exit_reason,account_return',
    'long,2020-01-01T04:00:00Z,7240,2020-01-01T16:00:00Z,7110.1,stop,-0.0175',
  ),
} as const

/** The good book with some files changed. */
export const readChanged = async (changes: Files, left: Files = GOOD): Promise<Book> =>
  readBook(await writeFolder({ ...left, ...changes }))

/** Every problem with which work on a book is refused, as the operator reads it; empty if it is not. */
export async function problemsIn(work: Promise<unknown>): Promise<string[]> {
  try {
    await work
    return []
  } catch (error) {
    if (!(error instanceof BookError)) throw error
    return error.problems.map(formatProblem)
  }
}

/** Those of the changed book. */
export const problemsOf = (changes: Files): Promise<string[]> => problemsIn(readChanged(changes))

/** The good catalogue with one text replaced by another; the text has to be there. */
export function catalogueWith(before: string, after: string): Files {
  const catalogue = GOOD['catalogue.yaml']
  if (!catalogue.includes(before))
    throw new Error(`the good catalogue does not have ${JSON.stringify(before)}`)
  return { 'catalogue.yaml': catalogue.replace(before, after) }
}
