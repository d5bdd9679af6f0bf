import type { BarsFile, BarsKey } from './book.ts'
import { listed } from './field.ts'
import { listFolder } from './folder.ts'
import { BookError } from './problem.ts'
import { CATALOGUE_FILE, readCatalogue } from './read-catalogue.ts'
import { readBarsOf } from './read-market.ts'
import { createReading } from './reading.ts'
import { TIMEFRAMES, type Timeframe } from './timeframe.ts'

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
  const keys = TIMEFRAMES.map((each): BarsKey => `${instrument}/${each}`).filter(
    key => reading.named.has(key) || [`bars/${key}.csv`, `bars/${key}.csv.gz`].some(path => folder.has(path)),
  )
  const found = timeframe === null ? keys : keys.filter(key => key.endsWith(`/${timeframe}`))
  if (found.length === 0) return null
  if (found.length > 1)
    throw new Error(`expected one set of bars of ${instrument}, got ${listed(found)}: choose with --mark`)
  const file = await readBarsOf(reading, folder, found[0]!)
  if (file) return file
  throw new BookError(dir, reading.problems.sorted())
}
