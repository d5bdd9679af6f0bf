import { z } from 'zod'
import { DAY_MS, toEpochDay, toIsoDate } from '#core/calendar.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import type { Tier } from '#core/program/program.ts'
import type { BarsFile, BarsKey, BookProgram } from './book.ts'
import { basisPoints, INSTRUMENT_FORM, INSTRUMENT_PATTERN, oneOf, tvStatus } from './catalogue.ts'
import { EARLIEST_MS, LATEST_MS } from './cell.ts'
import { between, date, type Fault, field, got, orNull, soundFields } from './field.ts'
import { explainMissing, type Folder, tableNames } from './folder.ts'
import { explainUnknown, instrumentOf, instrumentsIn, readBarsOf } from './read-market.ts'
import type { Reading } from './reading.ts'
import { TIMEFRAME_MS, type Timeframe } from './timeframe.ts'
import { readYaml, type YamlFile } from './yaml.ts'

// The fields of `program.yaml`, each with what is expected of it, and the rules between them.

/** It buys over years: finer bars add nothing, and its rolling years would take hours. */
const PROGRAM_TIMEFRAMES = ['1h', '4h', '1d'] as const satisfies readonly Timeframe[]

/** Ten years of daily bars: what contributes more rarely than that is no program. */
const MAX_CADENCE_BARS = 3650

/** Ten years of hourly bars: a simulation over more of them is no answer to a request any more. */
const MAX_PLANNED_BARS = 100_000

/** Bands, or steps, of one tier: more of them are a curve, and no rule that people can check. */
const MAX_STEPS = 16

/** Days of closes in the mean of the Mayer multiple, by its definition. */
const MAYER_DAYS = 200

/** Largest deviation of the sum of the weights from 1: rounding of decimals, not a mistake. */
const WEIGHT_TOLERANCE = 1e-9

/** The key of the strategies in the entitlements of a client; a program of that name would be ambiguous. */
const RESERVED_ALIAS = 'aliases'

const [FIRST_DAY, END_DAY] = [toEpochDay(EARLIEST_MS), toEpochDay(LATEST_MS)]

const day = field(date.pipe(z.int().min(FIRST_DAY).lt(END_DAY)), 'a date from 1980 to 2099 as YYYY-MM-DD')

const explainBackward = (from: number, to: number): string =>
  `expected a day on or after ${toIsoDate(from)}, got ${toIsoDate(to)}`

const window = z
  .strictObject({ from: day, to: day })
  .superRefine(between(({ from, to }) => (to >= from ? [] : [[['to'], explainBackward(from, to)]])))

/** The days on which nothing is bought; without a last one the span goes on. */
const span = z.strictObject({ from: day, to: orNull(day) })

/** Spans that end before they begin, or do not begin after the one before. */
const explainSpans = (spans: readonly z.infer<typeof span>[]): Fault[] =>
  spans.flatMap(({ from, to }, i) => {
    const faults: Fault[] = []
    const before = spans[i - 1]
    if (to !== null && to < from) faults.push([[i, 'to'], explainBackward(from, to)])
    if (before?.to === null)
      faults.push([[i, 'from'], `expected no span after one without an end, got ${toIsoDate(from)}`])
    else if (before !== undefined && from <= before.to)
      faults.push([[i, 'from'], `expected a day after ${toIsoDate(before.to)}, got ${toIsoDate(from)}`])
    return faults
  })

/** Fraction of every contribution that the tier gets; together they are 1. */
const weight = field(z.number().gt(0).max(1), 'a fraction above 0 and at most 1')

const spend = field(z.number().min(0).max(1), 'a fraction from 0 to 1 of the cash of the tier')

/** The band holds where the Mayer multiple is below this. */
const below = field(z.number().gt(0).max(100), 'a Mayer multiple above 0 and at most 100')

const drawdown = field(
  z.number().gt(0).lt(1),
  'a fraction above 0 and below 1 (0.2 = 20 % below the running high)',
)

/** Ascending entries: the first one that matches decides, so their order is part of the rule. */
const ascending = <Key extends string, Entry extends Readonly<Record<Key, number>>>(
  noun: string,
  key: Key,
  entry: z.ZodType<Entry>,
  initial: Entry[],
) => {
  const explainOrder = (entries: readonly Entry[]): Fault[] => {
    const i = entries.findIndex((each, at) => at > 0 && each[key] <= entries[at - 1]![key])
    if (i === -1) return []
    return [
      [[i, key], `expected more than ${entries[i - 1]![key]} of the entry before, got ${entries[i]![key]}`],
    ]
  }
  const list = z.array(entry).min(1).max(MAX_STEPS).superRefine(between(explainOrder)).default(initial)
  return field(list, `a list of 1 to ${MAX_STEPS} ${noun}`)
}

const bands = ascending('bands', 'below', z.strictObject({ below, spend }), [
  { below: 0.8, spend: 1 },
  { below: 1, spend: 0.5 },
  { below: 1.2, spend: 0.25 },
])

const steps = ascending('steps', 'drawdown', z.strictObject({ drawdown, spend }), [
  { drawdown: 0.2, spend: 0.25 },
  { drawdown: 0.35, spend: 0.5 },
  { drawdown: 0.5, spend: 0.75 },
  { drawdown: 0.65, spend: 1 },
])

const tier = <Shape extends z.ZodRawShape>(shape: Shape) =>
  field(z.strictObject({ weight, ...shape }).optional(), 'a map with a weight')

function explainWeights(all: readonly Tier[]): Fault[] {
  const sum = all.reduce((total, each) => total + each.weight, 0)
  if (Math.abs(sum - 1) <= WEIGHT_TOLERANCE) return []
  const weights = all.map(each => `${each.tier} ${each.weight}`).join(', ') || 'no tier'
  return [[[], `expected weights that sum to 1, got ${Number(sum.toPrecision(10))} (${weights})`]]
}

/** An omitted tier gets nothing. */
const tiers = z
  .strictObject({
    /** Spends everything on each contribution bar. */
    core: tier({}),
    /** Spends by the Mayer multiple. */
    cyclical: tier({ bands }),
    /** Spends on dips. */
    tactical: tier({ steps }),
  })
  .transform(({ core, cyclical, tactical }): readonly Tier[] => {
    const all: readonly (Tier | undefined)[] = [
      core && { tier: 'core', ...core, rule: { kind: 'always' } },
      cyclical && {
        tier: 'cyclical',
        weight: cyclical.weight,
        rule: { kind: 'mayer', mean_days: MAYER_DAYS, bands: cyclical.bands },
      },
      tactical && {
        tier: 'tactical',
        weight: tactical.weight,
        rule: { kind: 'dips', steps: tactical.steps },
      },
    ]
    return all.filter(each => each !== undefined)
  })
  .superRefine(between(explainWeights))

export const DEFAULT_TIERS = tiers.parse({
  core: { weight: 0.5 },
  cyclical: { weight: 0.3 },
  tactical: { weight: 0.2 },
})

/** Entitlements name the program and the strategies in one map, so no two may share a name. */
const alias = (ids: readonly string[]) => {
  const explainTaken = (name: string): Fault[] => {
    const taken = name === RESERVED_ALIAS ? 'which is reserved' : ids.includes(name) ? 'a strategy' : null
    const sentence = `expected an alias of its own, got ${got(name)}, ${taken}: choose another`
    return taken === null ? [] : [[[], sentence]]
  }
  return field(
    z.string().regex(ID_PATTERN).superRefine(between(explainTaken)),
    'an alias of 1 to 64 lower-case letters, digits, dashes and underscores that begins with a letter or digit',
  )
}

/** The file. `ids` are the strategies of the catalogue. */
const programSchema = (ids: readonly string[]) =>
  z
    .strictObject({
      alias: alias(ids),
      /** Spot market; also the name of its folder under bars/. */
      instrument: field(z.string().regex(INSTRUMENT_PATTERN), INSTRUMENT_FORM),
      /** Of the bars that the program buys on. */
      timeframe: oneOf(PROGRAM_TIMEFRAMES).default('1d'),
      window: field(window, 'a map with from and to'),
      tiers: field(tiers.default(DEFAULT_TIERS), 'a map of tiers'),
      /** Bars from one contribution to the next. */
      contribution_cadence_bars: field(
        z.int().min(1).max(MAX_CADENCE_BARS),
        `a whole number of bars from 1 to ${MAX_CADENCE_BARS}`,
      ),
      /** What a purchase costs, in basis points of its dollars; slippage is always against the buyer. */
      costs: field(
        z.strictObject({ fee_bps: basisPoints, slippage_bps: basisPoints }),
        'a map with fee_bps and slippage_bps',
      ),
      /** Equity of the reference basket in dollars. */
      reference_equity_usd: field(
        z.number().min(1).max(1e12).default(100_000),
        'an amount in dollars from 1 to 1e12',
      ),
      paused: field(
        orNull(z.array(span).superRefine(between(explainSpans))).transform(spans => spans ?? []),
        'a list of spans',
      ),
      tv_status: tvStatus,
    })
    .superRefine(
      between(({ window: { from, to }, timeframe }) => {
        const bars = ((to - from + 1) * DAY_MS) / TIMEFRAME_MS[timeframe]
        if (bars <= MAX_PLANNED_BARS) return []
        const most = `expected a window of at most ${MAX_PLANNED_BARS} bars`
        return [[['window', 'to'], `${most}, got ${bars} of ${timeframe}: take a longer timeframe`]]
      }),
    )

export const PROGRAM_FILE = 'program.yaml'

/** Null if the book has no program, or has problems, which are reported. `known` are bars that were read, `ids` the strategies. */
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
  // A charting tool has no list of trades of a program.
  return plan === null || bars === null ? null : { plan: { ...plan, tv_status: 'not_applicable' }, bars }
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
