import { z } from 'zod'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'
import {
  type ProgramPlan,
  TIER_NAMES,
  type Tier,
  type TierName,
  type TierRule,
} from '#core/program/program.ts'
import { WEIGHT_TOLERANCE } from '#core/program/program-problems.ts'
import type { BarsFile, BarsKey, BookProgram } from './book.ts'
import { INSTRUMENT_PATTERN } from './catalogue.ts'
import { listed } from './field.ts'
import { type Folder, filesUnder } from './folder.ts'
import {
  bandShape,
  costsShape,
  PROGRAM_TIMEFRAMES,
  programShape,
  spanShape,
  stepShape,
  tierShapes,
  tiersShape,
  windowShape,
} from './program-shape.ts'
import { explainUnknown, instrumentsIn, readBarsOf } from './read-market.ts'
import type { Reading } from './reading.ts'
import { TIMEFRAME_MS, type Timeframe } from './timeframe.ts'
import {
  type Fields,
  mapSchema,
  type Path,
  readYaml,
  reportFields,
  soundEntries,
  soundFields,
  toMap,
  type YamlFile,
} from './yaml.ts'

export const PROGRAM_FILE = 'program.yaml'

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
  const root = file && toMap(file, [], file.value)
  if (file === null || root === null) return null
  const plan = readPlan(file, root, ids)
  const wanted = wantedSchema.parse(root)
  const bars = await barsOf(reading, folder, file, wanted, known)
  return plan === null || bars === null ? null : { plan, bars }
}

/** The fields that determine the bars, whatever else is wrong with the plan; null if not valid. */
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
  // Problems of a file that a strategy shares are reported already.
  if (shared !== undefined || isBroken(reading, key)) return shared ?? null
  const bars = await readBarsOf(reading, folder, key)
  if (bars === undefined) reportMissing(reading, file, folder, instrument, timeframe)
  return bars ?? null
}

const isBroken = ({ problems, named }: Reading, key: BarsKey): boolean =>
  [`bars/${key}.csv`, `bars/${key}.csv.gz`, ...(named.get(key)?.path ?? [])].some(problems.has)

function reportMissing(
  reading: Reading,
  file: YamlFile,
  folder: Folder,
  instrument: string,
  timeframe: Timeframe,
): void {
  const known = instrumentsIn(reading, folder)
  if (known.includes(instrument)) {
    const beside = listed(filesUnder(folder, `bars/${instrument}`))
    file.report(
      ['timeframe'],
      `expected bars/${instrument}/${timeframe}.csv or .csv.gz, got no such file; bars/${instrument}/ has ${beside}`,
    )
    return
  }
  file.report(['instrument'], explainUnknown(instrument, known))
}

/** Ten years of hourly bars: a simulation over more of them is no answer to a request any more. */
const MAX_PLANNED_BARS = 100_000

/** `timeframe` is the plan's, as the book spells it. */
type BookPlan = ProgramPlan & { readonly timeframe: Timeframe }

/** Reads the plan; `ids` are the strategies of the catalogue. Null if it has problems, which are reported. */
function readPlan(file: YamlFile, root: Fields, ids: readonly string[]): BookPlan | null {
  const head = soundFields(file, [], root, programShape(ids))
  const parts = partsSchema.parse(root)
  const window = parts.window && readWindow(file, parts.window)
  const tiers = root.tiers === undefined ? DEFAULT_TIERS : parts.tiers && readTiers(file, parts.tiers)
  const costs = parts.costs && soundFields(file, ['costs'], parts.costs, costsShape)
  const paused = readPaused(file, root.paused ?? [])
  if (head === null || window === null || tiers === null || costs === null || paused === null) return null
  return isShortEnough(file, head.timeframe, window)
    ? { ...head, ...NO_CHART, window, tiers, costs, paused }
    : null
}

/** A charting tool has no list of trades of a program. */
const NO_CHART = { tv_status: 'not_applicable' } as const

/** The parts that are maps; the shape of the file reports the others. */
const partsSchema = z.object({
  window: mapSchema.nullable().catch(null),
  tiers: mapSchema.nullable().catch(null),
  costs: mapSchema.nullable().catch(null),
})

function readWindow(file: YamlFile, record: Fields): ProgramPlan['window'] | null {
  const window = soundFields(file, ['window'], record, windowShape)
  if (window === null || window.to >= window.from) return window
  const { from, to } = window
  file.report(['window', 'to'], `expected a day on or after ${toIsoDate(from)}, got ${toIsoDate(to)}`)
  return null
}

function isShortEnough(file: YamlFile, timeframe: Timeframe, { from, to }: ProgramPlan['window']): boolean {
  const bars = ((to - from + 1) * DAY_MS) / TIMEFRAME_MS[timeframe]
  if (bars <= MAX_PLANNED_BARS) return true
  file.report(
    ['window', 'to'],
    `expected a window of at most ${MAX_PLANNED_BARS} bars, got ${bars} of ${timeframe}: take a longer timeframe`,
  )
  return false
}

function readPaused(file: YamlFile, value: unknown): ProgramPlan['paused'] | null {
  const spans = soundEntries(file, ['paused'], value, spanShape)
  if (spans === null) return null
  const faults = spans.map((span, i) => reportSpan(file, i, span, spans[i - 1]))
  return faults.includes(true) ? null : spans
}

type Span = ProgramPlan['paused'][number]

/** Whether a span ends before it begins, or does not begin after the one before; both are reported. */
function reportSpan(file: YamlFile, i: number, { from, to }: Span, before: Span | undefined): boolean {
  const isBackward = to !== null && to < from
  if (isBackward) {
    file.report(['paused', i, 'to'], `expected a day on or after ${toIsoDate(from)}, got ${toIsoDate(to)}`)
  }
  const follows = before === undefined || (before.to !== null && from > before.to)
  if (!follows) {
    const expected =
      before.to === null ? 'no span after one without an end' : `a day after ${toIsoDate(before.to)}`
    file.report(['paused', i, 'from'], `expected ${expected}, got ${toIsoDate(from)}`)
  }
  return isBackward || !follows
}

/** Days of closes in the mean of the Mayer multiple, by its definition. */
const MAYER_DAYS = 200

const DEFAULT_BANDS = [
  { below: 0.8, spend: 1 },
  { below: 1, spend: 0.5 },
  { below: 1.2, spend: 0.25 },
]

const DEFAULT_STEPS = [
  { drawdown: 0.2, spend: 0.25 },
  { drawdown: 0.35, spend: 0.5 },
  { drawdown: 0.5, spend: 0.75 },
  { drawdown: 0.65, spend: 1 },
]

export const DEFAULT_TIERS: readonly Tier[] = [
  { tier: 'core', weight: 0.5, rule: { kind: 'always' } },
  { tier: 'cyclical', weight: 0.3, rule: { kind: 'mayer', mean_days: MAYER_DAYS, bands: DEFAULT_BANDS } },
  { tier: 'tactical', weight: 0.2, rule: { kind: 'dips', steps: DEFAULT_STEPS } },
]

/** Reads `tiers`: an omitted tier gets nothing. Null if something is wrong, which is reported. */
function readTiers(file: YamlFile, record: Fields): readonly Tier[] | null {
  const path = ['tiers']
  const isSound = reportFields(file, path, record, tiersShape)
  const named = TIER_NAMES.filter(name => record[name] !== undefined && record[name] !== null)
  const tiers = named.map(name => readTier(file, [...path, name], name, record[name]))
  const sound = tiers.filter(tier => tier !== null)
  if (!isSound || sound.length < tiers.length) return null
  const sum = sound.reduce((all, { weight }) => all + weight, 0)
  if (Math.abs(sum - 1) <= WEIGHT_TOLERANCE) return sound
  const weights = sound.map(({ tier, weight }) => `${tier} ${weight}`).join(', ') || 'no tier'
  file.report(path, `expected weights that sum to 1, got ${Number(sum.toPrecision(10))} (${weights})`)
  return null
}

function readTier(file: YamlFile, path: Path, tier: TierName, value: unknown): Tier | null {
  const record = toMap(file, path, value)
  if (record === null) return null
  const fields = soundFields<{ weight: z.ZodNumber }>(file, path, record, tierShapes[tier])
  const rule = readRule(file, path, tier, record)
  return fields === null || rule === null ? null : { tier, weight: fields.weight, rule }
}

function readRule(file: YamlFile, path: Path, tier: TierName, record: Fields): TierRule | null {
  switch (tier) {
    case 'core':
      return { kind: 'always' }
    case 'cyclical': {
      const at = [...path, 'bands']
      const bands = soundEntries(file, at, record.bands ?? DEFAULT_BANDS, bandShape)
      const isSound = bands !== null && isAscending(file, at, 'below', bands)
      return isSound ? { kind: 'mayer', mean_days: MAYER_DAYS, bands } : null
    }
    case 'tactical': {
      const at = [...path, 'steps']
      const steps = soundEntries(file, at, record.steps ?? DEFAULT_STEPS, stepShape)
      return steps !== null && isAscending(file, at, 'drawdown', steps) ? { kind: 'dips', steps } : null
    }
  }
}

/** The first entry that matches decides, so their order is part of the rule. */
function isAscending<Key extends string>(
  file: YamlFile,
  path: Path,
  key: Key,
  entries: readonly Readonly<Record<Key, number>>[],
): boolean {
  const wrong = entries.findIndex((entry, i) => i > 0 && entry[key] <= entries[i - 1]![key])
  if (wrong === -1) return true
  const [before, now] = [entries[wrong - 1]![key], entries[wrong]![key]]
  file.report([...path, wrong, key], `expected more than ${before} of the entry before, got ${now}`)
  return false
}
