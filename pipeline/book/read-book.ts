import { resolve } from 'node:path'
import type { Book, Source, StrategyEntry } from './book.ts'
import type { CatalogueStrategy } from './catalogue.ts'
import { listFolder } from './folder.ts'
import { BookError, createProblemList, type Problem } from './problem.ts'
import { type Claim, readCatalogue } from './read-catalogue.ts'
import { barsKeyOf, readAllBars, readAllFunding, tradedInstruments } from './read-market.ts'
import { readSources } from './read-sources.ts'
import { type Reading, readWhole } from './reading.ts'
import { PROGRAM_FILE, strays } from './strays.ts'

export type ReadOptions = {
  /** Told the path of each file before it is read: a large book takes a while. */
  readonly onFile?: (path: string) => void
}

/**
 * Reads a book whole and checks every rule that it can check by itself. It knows no clock: how old the data may be,
 * and where the window ends, is decided by the build.
 *
 * Throws a `BookError` with every problem of the book at once; nothing of an unsound book is handed on.
 */
export async function readBook(dir: string, { onFile = () => {} }: ReadOptions = {}): Promise<Book> {
  const reading: Reading = { dir: resolve(dir), problems: createProblemList(), inputs: [], onFile }
  const folder = await listFolder(reading)
  const catalogue = reading.problems.isEmpty() ? await readCatalogue(reading) : null
  if (catalogue === null) throw new BookError(reading.dir, reading.problems.sorted())

  const { service, strategies, claims } = catalogue
  const sources = await readSources(reading, folder, claims)
  const bars = await readAllBars(reading, folder, claims)
  const funding = await readAllFunding(reading, folder, claims)
  // Its schema comes with the program; until then the record of the build knows which text was there.
  if (folder.has(PROGRAM_FILE)) await readWhole(reading, PROGRAM_FILE)
  if (service === null || !reading.problems.isEmpty())
    throw new BookError(reading.dir, reading.problems.sorted())

  return {
    dir: reading.dir,
    service,
    strategies: strategies.map(strategy => entryOf(strategy, sources)),
    bars,
    funding,
    inputs: reading.inputs,
    warnings: [...strays(folder, knownOf(strategies)), ...unfunded(claims, funding)],
  }
}

function entryOf(strategy: CatalogueStrategy, sources: ReadonlyMap<string, Source>): StrategyEntry {
  const source = sources.get(strategy.id)
  if (source === undefined) throw new Error(`${strategy.id} has no source, and yet the book has no problem`)
  return { ...strategy, source, bars: barsKeyOf(strategy) }
}

const knownOf = (strategies: readonly CatalogueStrategy[]) => ({
  ids: strategies.map(({ id }) => id),
  instruments: [...new Set(strategies.map(({ instrument }) => instrument))],
})

/** A perpetual without funding is a cost left out; a spot market has none. The reader cannot tell them apart. */
const unfunded = (claims: readonly Claim[], funding: Book['funding']): Problem[] =>
  [...tradedInstruments(claims)]
    .filter(instrument => !funding.has(instrument))
    .map(instrument => ({
      file: `funding/${instrument}.csv`,
      message: `expected the funding of ${instrument}, got no such file: its positions neither pay nor receive any`,
    }))
