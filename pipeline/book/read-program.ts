import type { BarsFile, BarsKey, BookProgram } from './book.ts'
import { soundFields } from './field.ts'
import { explainMissing, type Folder, tableNames } from './folder.ts'
import { programSchema } from './program-shape.ts'
import { explainUnknown, instrumentOf, instrumentsIn, readBarsOf } from './read-market.ts'
import type { Reading } from './reading.ts'
import { readYaml, type YamlFile } from './yaml.ts'

export const PROGRAM_FILE = 'program.yaml'

/** A charting tool has no list of trades of a program. */
const NO_CHART = { tv_status: 'not_applicable' } as const

/**
 * Reads `program.yaml` and its bars, which it may share with strategies: `known` are those that were read.
 * Null if the book has no program, or has problems, which are reported. `ids` are the strategies.
 */
export async function readProgram(
  reading: Reading,
  folder: Folder,
  ids: readonly string[],
  known: ReadonlyMap<BarsKey, BarsFile>,
): Promise<BookProgram | null> {
  if (!folder.has(PROGRAM_FILE)) return null
  const file = await readYaml(reading, PROGRAM_FILE)
  if (file === null) return null
  const schema = programSchema(ids)
  const plan = file.read([], schema)
  // The bars are read whatever else is wrong with the plan.
  const { instrument, timeframe } = soundFields(schema.shape, Object(file.value))
  if (instrument === undefined || timeframe === undefined) return null
  const key: BarsKey = `${instrument}/${timeframe}`
  const bars = known.get(key) ?? (await barsOf(reading, folder, file, key))
  return plan === null || bars === null ? null : { plan: { ...plan, ...NO_CHART }, bars }
}

async function barsOf(reading: Reading, folder: Folder, file: YamlFile, key: BarsKey) {
  // Problems of a file that a strategy shares are reported already.
  if (tableNames(`bars/${key}`).some(reading.problems.has)) return null
  const bars = await readBarsOf(reading, folder, key)
  if (bars !== undefined) return bars
  const [instrument, known] = [instrumentOf(key), instrumentsIn(folder)]
  if (known.includes(instrument))
    file.report(['timeframe'], explainMissing(folder, `bars/${key}.csv or .csv.gz`, `bars/${instrument}`))
  else file.report(['instrument'], explainUnknown(instrument, known))
  return null
}
