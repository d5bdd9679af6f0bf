import type { ProgramPlan } from '#core/program/program.ts'
import type { BarsFile, BarsKey, BookProgram } from './book.ts'
import { soundFields } from './field.ts'
import { explainMissing, type Folder, tableNames } from './folder.ts'
import { programSchema } from './program-shape.ts'
import { explainUnknown, instrumentsIn, readBarsOf } from './read-market.ts'
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
  const bars = await barsOf(reading, folder, file, { instrument, timeframe }, known)
  return plan === null || bars === null ? null : { plan: { ...plan, ...NO_CHART }, bars }
}

async function barsOf(
  reading: Reading,
  folder: Folder,
  file: YamlFile,
  { instrument, timeframe }: Pick<ProgramPlan, 'instrument'> & Pick<BarsFile, 'timeframe'>,
  read: ReadonlyMap<BarsKey, BarsFile>,
): Promise<BarsFile | null> {
  const key: BarsKey = `${instrument}/${timeframe}`
  const shared = read.get(key)
  // Problems of a file that a strategy shares are reported already.
  if (shared !== undefined || isBroken(reading, key)) return shared ?? null
  const bars = await readBarsOf(reading, folder, key)
  if (bars !== undefined) return bars
  const known = instrumentsIn(reading, folder)
  if (known.includes(instrument))
    file.report(['timeframe'], explainMissing(folder, `bars/${key}.csv or .csv.gz`, `bars/${instrument}`))
  else file.report(['instrument'], explainUnknown(instrument, known))
  return null
}

const isBroken = ({ problems, named }: Reading, key: BarsKey): boolean =>
  [...tableNames(`bars/${key}`), ...(named.get(key)?.path ?? [])].some(problems.has)
