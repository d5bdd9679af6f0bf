import { nearestTo } from '#core/contract/near-miss.ts'
import { importBars } from '../import/bars.ts'
import type { BarsFile, BarsKey } from './book.ts'
import { got, listed } from './field.ts'
import { explainMissing, type Folder, filesUnder, listFolder, tableAt, tableNames } from './folder.ts'
import { BookError } from './problem.ts'
import { readBars } from './read-bars.ts'
import { CATALOGUE_FILE, type Claim, readCatalogue } from './read-catalogue.ts'
import { createReading, type Reading } from './reading.ts'
import { TIMEFRAMES, type Timeframe } from './timeframe.ts'

/**
 * The bars that replay and mark a strategy: on a module's own timeframe, on a ledger's `mark`; null for
 * reported returns, which need none. One set a strategy, because two sets may disagree on a close.
 */
export function barsKeyOf({ source, instrument, timeframe: own, mark }: Partial<Claim>): BarsKey | null {
  const timeframe = source === 'module' ? own : source === 'ledger' ? mark : null
  return timeframe && instrument ? `${instrument}/${timeframe}` : null
}

/**
 * Reads the bars that the strategies need, each set once; a set that is missing is a problem, and so is an
 * instrument without any, at the first strategy that trades it. Returns the sound ones.
 */
export async function readAllBars(
  reading: Reading,
  folder: Folder,
  claims: readonly Claim[],
): Promise<ReadonlyMap<BarsKey, BarsFile>> {
  const bars = new Map<BarsKey, BarsFile>()
  const known = instrumentsIn(reading, folder)
  const wanting = claims.filter(claim => barsKeyOf(claim) !== null)
  const idsOf = (users: readonly Claim[]): string => listed(users.map(({ id }) => id))
  for (const [instrument = '', users] of Map.groupBy(wanting, claim => claim.instrument))
    if (!known.includes(instrument))
      users[0]!.report('instrument', explainUnknown(instrument, known, `, for ${idsOf(users)}`))
  for (const [key, users] of Map.groupBy(wanting, claim => barsKeyOf(claim)!)) {
    const readers = users.filter(({ source }) => source === 'module').map(({ id }) => id)
    const file = await readBarsOf(reading, folder, key, readers)
    if (file) bars.set(key, file)
    if (file !== undefined || !known.includes(instrumentOf(key))) continue
    const expected = `bars for ${idsOf(users)}, plain or .csv.gz`
    const message = explainMissing(folder, expected, `bars/${instrumentOf(key)}`)
    reading.problems.add({ file: `bars/${key}.csv`, message })
  }
  return bars
}

/**
 * Reads one set of bars: the files that the catalogue names for it, or its table. Undefined if there is neither, null
 * if what there is has problems. `readers` are the modules that may read the volume.
 */
export async function readBarsOf(
  reading: Reading,
  folder: Folder,
  key: BarsKey,
  readers: readonly string[] = [],
): Promise<BarsFile | null | undefined> {
  const path = tableAt(reading, folder, `bars/${key}`)
  const spec = reading.named.get(key)
  const timeframe = key.slice(key.lastIndexOf('/') + 1) as Timeframe // by the type of the key
  if (spec !== undefined) {
    if (path === null) return importBars(reading, { ...spec, timeframe, readers })
    const message = `expected one source of ${key}, got ${path} and ${listed(spec.path)} of the catalogue: remove one`
    reading.problems.add({ file: path, message })
    return null
  }
  if (path === null) return undefined
  const file = await readBars(reading, path, timeframe)
  return reading.problems.has(path) ? null : file
}

/**
 * The bars of an instrument in a book that need not be whole yet: those of the timeframe, or the only ones. Null if
 * there are none. Throws if there are several, or if they have problems.
 */
export async function findBars(
  dir: string,
  instrument: string,
  timeframe: Timeframe | null,
  nowMs: number,
): Promise<BarsFile | null> {
  const reading = createReading(dir, { nowMs })
  const folder = await listFolder(reading)
  if (folder.has(CATALOGUE_FILE)) await readCatalogue(reading)
  const [key, ...others] = (timeframe === null ? TIMEFRAMES : [timeframe])
    .map((each): BarsKey => `${instrument}/${each}`)
    .filter(each => reading.named.has(each) || tableNames(`bars/${each}`).some(path => folder.has(path)))
  if (key === undefined) return null
  const sets = listed([key, ...others])
  if (others.length > 0)
    throw new Error(`expected one set of bars of ${instrument}, got ${sets}: choose with --mark`)
  const file = await readBarsOf(reading, folder, key)
  if (file) return file
  throw new BookError(dir, reading.problems.sorted())
}

export const instrumentOf = (key: BarsKey): string => key.slice(0, key.lastIndexOf('/'))

/** The instruments that have a table of bars, of whatever timeframe. */
export const instrumentsIn = ({ named }: Reading, folder: Folder): string[] => [
  ...new Set([
    ...[...named.keys()].map(instrumentOf),
    ...filesUnder(folder, 'bars').flatMap(
      path => /^([^/]+)\/[^/]+\.csv(?:\.gz)?$/.exec(path)?.slice(1) ?? [],
    ),
  ]),
]

/** Why an instrument cannot be used; `users` names the strategies, such as `, for alder`. */
export function explainUnknown(instrument: string, known: readonly string[], users = ''): string {
  const nearest = nearestTo(instrument, known)
  return (
    `expected an instrument with bars under bars/${users}, got ${got(instrument)}; ` +
    `${known.length === 0 ? 'there are no bars at all' : `there are bars of ${listed(known)}`}` +
    `${nearest === null ? '' : `; the nearest name is ${got(nearest)}`}`
  )
}
