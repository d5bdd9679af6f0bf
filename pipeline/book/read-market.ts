import type { BarsFile, BarsKey } from './book.ts'
import { got, hint, listed } from './field.ts'
import { explainMissing, type Folder, filesUnder, listFolder, tableAt, tableNames } from './folder.ts'
import { BookError } from './problem.ts'
import { readBars } from './read-bars.ts'
import type { Claim } from './read-catalogue.ts'
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
export async function readAllBars(reading: Reading, folder: Folder, claims: readonly Claim[]) {
  const bars = new Map<BarsKey, BarsFile>()
  const known = instrumentsIn(folder)
  const wanting = claims.filter(claim => barsKeyOf(claim) !== null)
  const idsOf = (users: readonly Claim[]): string => listed(users.map(({ id }) => id))
  for (const [instrument = '', users] of Map.groupBy(wanting, claim => claim.instrument))
    if (!known.includes(instrument))
      users[0]!.report('instrument', explainUnknown(instrument, known, `, for ${idsOf(users)}`))
  for (const [key, users] of Map.groupBy(wanting, claim => barsKeyOf(claim)!)) {
    const file = await readBarsOf(reading, folder, key)
    if (file) bars.set(key, file)
    if (file !== undefined || !known.includes(instrumentOf(key))) continue
    const expected = `bars for ${idsOf(users)}, plain or .csv.gz`
    const message = explainMissing(folder, expected, `bars/${instrumentOf(key)}`)
    reading.problems.add({ file: `bars/${key}.csv`, message })
  }
  return bars
}

/** Reads one set of bars. Undefined if there is none, null if it has problems. */
export async function readBarsOf(reading: Reading, folder: Folder, key: BarsKey) {
  const path = tableAt(reading, folder, `bars/${key}`)
  if (path === null) return undefined
  const timeframe = key.slice(key.lastIndexOf('/') + 1) as Timeframe // by the type of the key
  const file = await readBars(reading, path, timeframe)
  return reading.problems.has(path) ? null : file
}

/**
 * The bars of an instrument in a book that need not be whole yet: those of the timeframe, or the only ones. Null if
 * there are none. Throws if there are several, or if they have problems.
 */
export async function findBars(dir: string, instrument: string, timeframe: Timeframe | null) {
  const reading = createReading(dir)
  const folder = await listFolder(reading)
  const [key, ...others] = (timeframe === null ? TIMEFRAMES : [timeframe])
    .map((each): BarsKey => `${instrument}/${each}`)
    .filter(each => tableNames(`bars/${each}`).some(path => folder.has(path)))
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
export const instrumentsIn = (folder: Folder): string[] => [
  ...new Set(
    filesUnder(folder, 'bars').flatMap(path => /^([^/]+)\/[^/]+\.csv(?:\.gz)?$/.exec(path)?.slice(1) ?? []),
  ),
]

/** Why an instrument cannot be used; `users` names the strategies, such as `, for alder`. */
export function explainUnknown(instrument: string, known: readonly string[], users = ''): string {
  const others = known.length === 0 ? 'there are no bars at all' : hint(instrument, known, 'instrument')
  return `expected an instrument with bars under bars/${users}, got ${got(instrument)}; ${others}`
}
