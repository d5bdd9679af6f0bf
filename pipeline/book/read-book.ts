import { resolve } from 'node:path'
import type { Book, SoundParts, Source, StrategyEntry } from './book.ts'
import type { CatalogueStrategy } from './catalogue.ts'
import { type Folder, listFolder } from './folder.ts'
import { explainInception } from './inception.ts'
import { BookError, createProblemList, type Problem } from './problem.ts'
import { type Catalogue, type Claim, readCatalogue } from './read-catalogue.ts'
import { barsKeyOf, readAllBars, readAllFunding, tradedInstruments } from './read-market.ts'
import { readProgram } from './read-program.ts'
import { readSources } from './read-sources.ts'
import type { Reading } from './reading.ts'
import { strays } from './strays.ts'

export type ReadOptions = {
  /** Told the path of each file before it is read: a large book takes a while. */
  readonly onFile?: (path: string) => void
  /**
   * Looks at what is sound of the book and says what else is wrong: rules that need more than the book, such as a
   * clock. Its problems are told together with the reader's own.
   */
  readonly examine?: (sound: SoundParts, isBroken: boolean) => readonly Problem[]
}

/**
 * Reads a book whole and checks every rule that it can check by itself. It knows no clock: how old the data may be,
 * and where the window ends, is decided by the build, through `examine`.
 *
 * Throws a `BookError` with every problem of the book at once; nothing of an unsound book is handed on.
 */
export async function readBook(dir: string, options: ReadOptions = {}): Promise<Book> {
  const { onFile = () => {}, examine = () => [] } = options
  const reading: Reading = { dir: resolve(dir), problems: createProblemList(), inputs: [], onFile }
  const folder = await listFolder(reading)
  const catalogue = reading.problems.isEmpty() ? await readCatalogue(reading) : null
  if (catalogue === null) throw new BookError(reading.dir, reading.problems.sorted())

  const { service, strategies, claims } = catalogue
  const sound = await readParts(reading, folder, catalogue)
  for (const problem of examine(sound, !reading.problems.isEmpty())) reading.problems.add(problem)
  if (service === null || !reading.problems.isEmpty())
    throw new BookError(reading.dir, reading.problems.sorted())

  return {
    ...sound,
    service,
    inputs: reading.inputs,
    warnings: [...strays(folder, knownOf(strategies, sound.program)), ...unfunded(claims, sound.funding)],
  }
}

/** Reads everything that the catalogue speaks of. */
async function readParts(reading: Reading, folder: Folder, catalogue: Catalogue): Promise<SoundParts> {
  const { service, strategies, claims } = catalogue
  const sources = await readSources(reading, folder, claims)
  const bars = await readAllBars(reading, folder, claims)
  const funding = await readAllFunding(reading, folder, claims)
  const ids = claims.map(({ id }) => id)
  const program = await readProgram(reading, folder, ids, bars)
  const byId = new Map(claims.map(claim => [claim.id, claim]))
  const entries: StrategyEntry[] = []
  for (const strategy of strategies) {
    const [claim, source] = [byId.get(strategy.id), sources.get(strategy.id)]
    if (claim === undefined || source === undefined) continue // what is missing has been reported
    const entry = toEntry(strategy, claim, source)
    const message = explainInception(entry, bars)
    if (message !== null) claim.report('inception', message)
    entries.push(entry)
  }
  return { dir: reading.dir, service, strategies: entries, bars, funding, program }
}

const toEntry = (strategy: CatalogueStrategy, { inceptionPlace }: Claim, source: Source): StrategyEntry => ({
  ...strategy,
  source,
  bars: barsKeyOf(strategy),
  inceptionPlace,
})

const knownOf = (strategies: readonly CatalogueStrategy[], program: Book['program']) => {
  const instruments = strategies.map(({ instrument }) => instrument)
  return {
    ids: strategies.map(({ id }) => id),
    instruments: [...new Set(program === null ? instruments : [...instruments, program.plan.instrument])],
  }
}

/** A perpetual without funding is a cost left out; a spot market has none. The reader cannot tell them apart. */
const unfunded = (claims: readonly Claim[], funding: Book['funding']): Problem[] =>
  [...tradedInstruments(claims)]
    .filter(instrument => !funding.has(instrument))
    .map(instrument => ({
      file: `funding/${instrument}.csv`,
      message: `expected the funding of ${instrument}, got no such file: its positions neither pay nor receive any`,
    }))
