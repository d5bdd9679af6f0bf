import { z } from 'zod'
import type { BarsFile, BarsKey, BookProgram } from './book.ts'
import { INSTRUMENT_PATTERN } from './catalogue.ts'
import { got, listed, nearestTo } from './field.ts'
import { type Folder, filesUnder, tableAt } from './folder.ts'
import { PROGRAM_TIMEFRAMES } from './program-shape.ts'
import { readBars } from './read-bars.ts'
import { instrumentsIn } from './read-market.ts'
import { readPlan } from './read-plan.ts'
import type { Reading } from './reading.ts'
import type { Timeframe } from './timeframe.ts'
import { toMap } from './yaml-fields.ts'
import { readYaml, type YamlFile } from './yaml-file.ts'

export const PROGRAM_FILE = 'program.yaml'

/**
 * Reads `program.yaml` and its bars, which it may share with strategies: `known` are those that were read. Null where
 * the book has no program, or something is wrong with it; all problems are reported. `ids` are the strategies.
 */
export async function readProgram(
  reading: Reading,
  folder: Folder,
  ids: readonly string[],
  known: ReadonlyMap<BarsKey, BarsFile>,
): Promise<BookProgram | null> {
  if (!folder.has(PROGRAM_FILE)) return null
  const file = await readYaml(reading, PROGRAM_FILE)
  const root = file && toMap(file, [], file.value)
  if (file === null || root === null) return null
  const plan = readPlan(file, root, ids)
  const wanted = wantedSchema.parse(root)
  const bars = await barsOf(reading, folder, file, wanted, known)
  return plan === null || bars === null ? null : { plan, bars }
}

/** What tells the bars, whatever else is wrong with the plan; null for what cannot be told. */
const wantedSchema = z.object({
  instrument: z.string().regex(INSTRUMENT_PATTERN).nullable().catch(null),
  timeframe: z.enum(PROGRAM_TIMEFRAMES).default('1d').nullable().catch(null),
})

async function barsOf(
  reading: Reading,
  folder: Folder,
  file: YamlFile,
  { instrument, timeframe }: z.infer<typeof wantedSchema>,
  known: ReadonlyMap<BarsKey, BarsFile>,
): Promise<BarsFile | null> {
  if (instrument === null || timeframe === null) return null
  const key: BarsKey = `${instrument}/${timeframe}`
  const shared = known.get(key)
  // What a strategy found wrong with a file it shares is told already.
  if (shared !== undefined || isBroken(reading, key)) return shared ?? null
  const path = tableAt(reading, folder, `bars/${key}`)
  if (path === null) {
    reportMissing(file, folder, instrument, timeframe)
    return null
  }
  const bars = await readBars(reading, path, timeframe)
  return reading.problems.has(path) ? null : bars
}

const isBroken = ({ problems }: Reading, key: BarsKey): boolean =>
  [`bars/${key}.csv`, `bars/${key}.csv.gz`].some(problems.has)

function reportMissing(file: YamlFile, folder: Folder, instrument: string, timeframe: Timeframe): void {
  const known = instrumentsIn(folder)
  if (known.includes(instrument)) {
    const beside = listed(filesUnder(folder, `bars/${instrument}`))
    file.report(
      ['timeframe'],
      `expected bars/${instrument}/${timeframe}.csv or .csv.gz, got no such file; bars/${instrument}/ has ${beside}`,
    )
    return
  }
  const nearest = nearestTo(instrument, known)
  file.report(
    ['instrument'],
    `expected an instrument with bars under bars/, got ${got(instrument)}; ` +
      `${known.length === 0 ? 'there are no bars at all' : `there are bars of ${listed(known)}`}` +
      `${nearest === null ? '' : `; the nearest name is ${got(nearest)}`}`,
  )
}
