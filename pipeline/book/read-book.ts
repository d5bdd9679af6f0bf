import { resolve } from 'node:path'
import { type EpochDay, toEpochDay, toIsoDate } from '#core/calendar.ts'
import { lastDay } from '#core/figures/series.ts'
import type { ChartExport, ChartTrade } from '#core/replay/compare-charting.ts'
import { firstCompleteDay } from '#core/replay/daily.ts'
import type { Kind } from '../import/format.ts'
import { readForeign } from '../import/read-table.ts'
import { pairTrades, type TradeRecord } from '../import/read-trades.ts'
import { createTally } from '../import/repair.ts'
import { LIST_OF_TRADES } from '../import/trade-formats.ts'
import type { Book, Charting, SoundParts, StrategyEntry } from './book.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment } from './cell.ts'
import { got, hint } from './field.ts'
import { BOOK_FOLDERS, type Folder, filesUnder, listFolder, tableNames } from './folder.ts'
import { BookError, type Problem } from './problem.ts'
import { CATALOGUE_FILE, type Catalogue, type Claim, readCatalogue } from './read-catalogue.ts'
import { barsKeyOf, fundingWarnings, readAllBars, readAllFunding } from './read-market.ts'
import { PROGRAM_FILE, readProgram } from './read-program.ts'
import { readSources } from './read-sources.ts'
import { createReading, type Reading, reporterOf } from './reading.ts'
import { TIMEFRAMES } from './timeframe.ts'
import { UTC } from './zone.ts'

/** Finds problems of a book by rules that need more than it, such as a clock. They are reported with those of the reader. */
export type Examine = (sound: SoundParts, isBroken: boolean) => Examination

type Examination = Pick<Book, 'report' | 'warnings'> & { readonly problems: readonly Problem[] }

/**
 * Reads a book whole and checks every rule that needs no clock: how old the data may be, and the end of the window, is decided by
 * the build, through `examine`. Throws a `BookError` with every problem of the book at once.
 */
export async function readBook(dir: string, examine?: Examine): Promise<Book> {
  const { sound, problems, ...found } = await readSound(dir, examine)
  if (sound === null || sound.service === null || problems.length > 0)
    throw new BookError(resolve(dir), problems)
  return { ...sound, service: sound.service, ...found }
}

/** The sound parts of a book, null without a catalogue that can be used, and all problems; warnings if there is none. */
export async function readSound(dir: string, examine: Examine = () => UNEXAMINED) {
  const reading = createReading(resolve(dir))
  const folder = await listFolder(reading)
  const catalogue = reading.problems.isEmpty() ? await readCatalogue(reading, folder) : null
  const sound = catalogue && (await readParts(reading, folder, catalogue))
  const { report, ...found } = sound === null ? UNEXAMINED : examine(sound, !reading.problems.isEmpty())
  for (const problem of found.problems) reading.problems.add(problem)
  const problems = reading.problems.sorted()
  const isSound = sound !== null && problems.length === 0
  const warnings = isSound ? [...strays(folder, sound), ...fundingWarnings(sound), ...found.warnings] : []
  return { sound, inputs: reading.inputs, report, problems, warnings }
}

const UNEXAMINED: Examination = { problems: [], report: [], warnings: [] }

async function readParts(reading: Reading, folder: Folder, catalogue: Catalogue): Promise<SoundParts> {
  const { service, claims, accept, imports } = catalogue
  const sources = await readSources(reading, folder, claims)
  const exports = await readAllCharting(reading, folder, claims)
  const bars = await readAllBars(reading, folder, claims)
  const funding = await readAllFunding(reading, folder, catalogue)
  const ids = claims.map(({ id }) => id)
  const program = await readProgram(reading, folder, ids, bars)
  const strategies: StrategyEntry[] = []
  for (const { strategy, inceptionPlace, report, ...claim } of claims) {
    const source = sources.get(claim.id)
    if (strategy === null || source === undefined) continue // what is missing has been reported
    const charting = exports.get(claim.id) ?? []
    const entry: StrategyEntry = { ...strategy, source, charting, bars: barsKeyOf(strategy), inceptionPlace }
    const days = { inception: entry.inception, ended: entry.ended?.on ?? null } as const
    for (const field of ['inception', 'ended'] as const) {
      const message = explainDay(days[field], entry, bars)
      if (message !== null) report(field, message)
    }
    strategies.push(entry)
  }
  // Ended ones come last.
  strategies.sort((a, b) => Number(a.ended !== null) - Number(b.ended !== null))
  return { dir: reading.dir, service, strategies, bars, funding, program, accept, imports }
}

/** Why a series cannot begin or end on a day: bars or returns do not cover it whole. Null if it can, or the bars are not known. */
function explainDay(day: EpochDay | null, entry: StrategyEntry, bars: SoundParts['bars']): string | null {
  const covered = coveredDays(entry, bars)
  if (day === null || covered === null) return null
  const { first, last, path } = covered
  if (day >= Math.max(first, entry.inception ?? first) && day <= last) return null
  const days = first <= last ? `${toIsoDate(first)} to ${toIsoDate(last)}` : 'of which there is none'
  return `expected a day that ${path} covers whole, ${days}, got ${toIsoDate(day)}`
}

function coveredDays({ source, bars: key }: StrategyEntry, bars: SoundParts['bars']) {
  if (source.kind === 'returns')
    return { first: source.daily.first, last: lastDay(source.daily), path: source.path }
  const file = key === null ? undefined : bars.get(key)
  if (file === undefined) return null
  return { first: firstCompleteDay(file.bars), last: toEpochDay(file.bars.t.at(-1)!), path: file.path }
}

/** Files in the root that belong to an editor or to the operator's own tools. */
const TOLERATED = ['node_modules/', 'package.json', 'package-lock.json', 'tsconfig.json']

/**
 * Files that the book does not speak of, each a warning: a ledger without a strategy is more often a misspelt
 * name than a left-over. Bars that no strategy needs are none, nor is anything under `strategies/`, which is
 * code, nor a Markdown file, nor one that begins with a dot.
 */
function strays(folder: Folder, { strategies, program }: SoundParts): Problem[] {
  const ids = strategies.map(({ id }) => id)
  const traded = [...strategies, ...(program === null ? [] : [program.plan])]
  const instruments = [...new Set(traded.map(({ instrument }) => instrument))]
  const tables = [
    ...instruments.flatMap(name => [`funding/${name}`, ...TIMEFRAMES.map(each => `bars/${name}/${each}`)]),
    ...ids.flatMap(id => [`ledgers/${id}`, `returns/${id}`]),
  ].flatMap(tableNames)
  const root = [CATALOGUE_FILE, PROGRAM_FILE, ...BOOK_FOLDERS.map(name => `${name}/`), ...TOLERATED]
  const known = new Set([...root, ...tables, ...ids.map(id => `charting/${id}.csv`)])
  return [...folder].flatMap(file => {
    const [top = '', ...parts] = file.split('/')
    const last = parts.at(-1) ?? top
    const [, id] = (top === 'charting' && CHARTING_NAME.exec(last)) || []
    const isHidden = [top, last].some(name => name.startsWith('.')) || last.endsWith('.md')
    if (isHidden || top === 'strategies' || known.has(id === undefined ? file : `charting/${id}.csv`))
      return []
    const beside = [...known].flatMap(name => (name.startsWith(`${top}/`) ? name.slice(top.length + 1) : []))
    const names = beside.filter(name => name !== '')
    const nearest = names.length > 0 ? hint(parts.join('/'), names, 'name') : hint(file, root, 'name')
    return [{ file, message: `expected a file of the book, got another, which is ignored; ${nearest}` }]
  })
}

/** `oak.csv` is the export of a ledger; `oak.2.csv` that of version 2 of a module. An id has no point. */
const CHARTING_NAME = /^([^.]+)(?:\.(.+))?\.csv$/

/** Reads the exports of a charting tool that lie beside the histories, by the id of the strategy. */
async function readAllCharting(reading: Reading, folder: Folder, claims: readonly Claim[]) {
  const exports: (Charting & { readonly id: string })[] = []
  for (const name of filesUnder(folder, 'charting')) {
    const [, id = '', version = null] = CHARTING_NAME.exec(name) ?? []
    if (!claims.some(claim => claim.id === id)) continue // reported as a stray file
    const path = `charting/${name}`
    exports.push({ id, path, version, ...(await readExport(reading, path)) })
  }
  return Map.groupBy(exports, ({ id }) => id)
}

/** Of an export beside a strategy its fills are compared, and its amounts mean nothing. */
const fillsKind = (): Kind => ({ ...LIST_OF_TRADES, matters: () => false })

/** Times stay those of the chart, whose zone the comparison finds. */
async function readExport(reading: Reading, path: string): Promise<ChartExport> {
  const rows: TradeRecord[] = []
  const report = reporterOf(reading, path)
  const request = { statement: {}, tally: createTally() }
  await readForeign(reading, path, fillsKind, request, (cell, row) => rows.push({ cell, row }))
  const toFill = ({ cell, row }: TradeRecord): ChartTrade['entry'] => {
    const [t, price] = [parseForeignMoment(cell('time'), UTC), parseDecimal(cell('price'))]
    if (Number.isNaN(t)) report(`time: ${explainForeignMoment(cell('time'), UTC)}`, row)
    if (!(price > 0)) report(`price: expected a price above 0, got ${got(cell('price'))}`, row)
    return { t, price }
  }
  const trades = pairTrades(rows, report).map(({ side, entry, exit }) => ({
    side,
    entry: toFill(entry),
    exit: exit && toFill(exit),
  }))
  const times = rows.map(({ cell }) => parseForeignMoment(cell('time'), UTC)).filter(t => !Number.isNaN(t))
  return { trades, end: times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY) }
}
