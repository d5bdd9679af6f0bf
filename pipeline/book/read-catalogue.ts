import { z } from 'zod'
import { statedOf } from '../import/repair.ts'
import {
  barsFileShape,
  type LedgerSpec,
  ledgerFileShape,
  type ReturnsSpec,
  returnsFileShape,
} from '../import/statement.ts'
import { type Acceptance, acceptShape } from '../report/accept.ts'
import type { BarsKey } from './book.ts'
import {
  type CatalogueStrategy,
  catalogueShape,
  INSTRUMENT_PATTERN,
  type Service,
  serviceShape,
  settingsShape,
  strategyShape,
} from './catalogue.ts'
import { got, listed } from './field.ts'
import type { Place } from './problem.ts'
import { type FundingStatements, readFundingStatements } from './read-funding-statement.ts'
import type { Reading } from './reading.ts'
import { TIMEFRAMES } from './timeframe.ts'
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

export const CATALOGUE_FILE = 'catalogue.yaml'

export type Catalogue = {
  /** Null if it has a problem. */
  readonly service: Service | null
  /** Those without a problem, in the order of the file, ended ones last; the defaults merged under them. */
  readonly strategies: readonly CatalogueStrategy[]
  /** What is stated about the funding of instruments; null if it has a problem. */
  readonly funding: FundingStatements | null
  readonly accept: readonly Acceptance[]
  /** Every strategy whose source is known, sound or not: its files are checked in any case. */
  readonly claims: readonly Claim[]
}

/** The fields of a strategy that determine its files; null for a field that is not valid. */
export type Claim = z.infer<typeof claimSchema> & {
  /** The file that stands for its table; null without one, undefined if it has problems. */
  readonly file: NamedFile | null | undefined
  /** Reports a problem at one of its fields in the catalogue, or at the default that it takes. */
  readonly report: (field: 'source' | 'instrument' | 'inception' | 'ended', message: string) => void
  /** The place of its inception in the catalogue, or of the strategy if it has none. */
  readonly inceptionPlace: Place
}

/** Reads `catalogue.yaml`. Null if nothing in it can be used; all problems are reported. */
export async function readCatalogue(reading: Reading): Promise<Catalogue | null> {
  const file = await readYaml(reading, CATALOGUE_FILE)
  if (file === null) return null
  const root = toMap(file, [], file.value)
  if (root === null) return null
  reportFields(file, [], root, catalogueShape)
  const parts = partsSchema.parse(root)
  readBarsSpecs(reading, file, parts.bars)
  for (const [path, stated] of Object.entries(parts.imports)) reading.repairs.push(statedOf(path, stated))
  const service = parts.service && soundFields(file, ['service'], parts.service, serviceShape)
  const defaults = parts.defaults && soundFields(file, ['defaults'], parts.defaults, settingsShape)

  const shape = {
    ...strategyShape(capSchema.parse(parts.service ?? {}).max_modelled_risk_pct),
    ...settingsShape,
  }
  const strategies: CatalogueStrategy[] = []
  const claims = new Map<string, Claim>()
  for (const [i, value] of parts.strategies.entries()) {
    const path: Path = ['strategies', i]
    const whole = toMap(file, path, value)
    if (whole === null) continue
    const { file: named, ...record } = whole
    const isWhole = [
      reportTimeframe(file, path, record),
      reportAssumptions(file, path, record, parts.defaults ?? {}),
      reportReplays(file, path, record),
      reportFields(file, path, record, shape),
    ]
    const isSound = !isWhole.includes(false)
    const isClaimed = claim(file, path, { record, named, defaults: parts.defaults ?? {} }, claims)
    // If the defaults are not sound, what they would merge into the strategy is not known.
    if (isSound && isClaimed && defaults !== null)
      strategies.push(z.object(shape).parse({ ...defaults, ...record }))
  }
  const instruments = [...claims.values()].flatMap(({ instrument }) => instrument ?? [])
  // If a strategy does not say which instrument it trades, any may be stated.
  const isKnown = instruments.length === parts.strategies.length
  const funding = isKnown && parts.funding ? readFundingStatements(file, parts.funding, instruments) : null
  const accept = soundEntries(file, ['accept'], parts.accept, acceptShape) ?? []
  strategies.sort((a, b) => Number(a.ended !== null) - Number(b.ended !== null))
  return { service, strategies, funding, accept, claims: [...claims.values()] }
}

/** The parts that have the right form; `reportFields` has reported the others. */
const partsSchema = z.object({
  service: mapSchema.nullable().catch(null),
  defaults: z.preprocess(value => value ?? {}, mapSchema.nullable().catch(null)),
  funding: z.preprocess(value => value ?? {}, mapSchema.nullable().catch(null)),
  bars: z.preprocess(value => value ?? {}, mapSchema.catch({})),
  imports: z.preprocess(value => value ?? {}, z.record(z.string(), z.string()).catch({})),
  accept: z.preprocess(value => value ?? [], z.array(z.unknown()).catch([])),
  strategies: z.array(z.unknown()).catch([]),
})

/** The cap, whatever else is wrong with the service. */
const capSchema = z.object({ max_modelled_risk_pct: serviceShape.max_modelled_risk_pct.catch(1) })

const claimSchema = z.object({
  id: strategyShape(1).id,
  source: strategyShape(1).source,
  allow_overlap: z.boolean().catch(false),
  commission_bps_per_side: settingsShape.commission_bps_per_side.nullable().catch(null),
  instrument: settingsShape.instrument.nullable().catch(null),
  timeframe: strategyShape(1).timeframe.catch(null),
  mark: settingsShape.mark.nullable().catch(null),
})

/** The entries of `bars` in the catalogue, by the bars that they are; sound ones are kept in the reading. */
function readBarsSpecs(reading: Reading, file: YamlFile, specs: Fields): void {
  for (const [key, value] of Object.entries(specs)) {
    if (isBarsKey(key)) {
      const record = toMap(file, ['bars', key], value)
      const spec = record && soundFields(file, ['bars', key], record, barsFileShape)
      if (spec !== null) reading.named.set(key, spec)
    } else {
      const message = `expected INSTRUMENT/TIMEFRAME, such as BTCUSDT-PERP/4h, got ${got(key)}`
      file.report(['bars', key], message, 'key')
    }
  }
}

function isBarsKey(key: string): key is BarsKey {
  const [instrument = '', timeframe = '', ...more] = key.split('/')
  return (
    more.length === 0 && INSTRUMENT_PATTERN.test(instrument) && TIMEFRAMES.some(each => each === timeframe)
  )
}

function reportTimeframe(file: YamlFile, path: Path, { source, timeframe }: Fields): boolean {
  if (source !== 'module' || (timeframe !== undefined && timeframe !== null)) return true
  file.report(
    [...path, 'timeframe'],
    'expected the timeframe of the bars that the module is replayed on, got nothing',
  )
  return false
}

/** What the maker of a history assumed: nothing here can know it, so no default may stand for it. */
const ASSUMPTIONS = ['commission_bps_per_side', 'slippage_ticks', 'engine']

/**
 * False unless a ledger or reported returns state their assumptions themselves; the tick is of the instrument, so
 * that the defaults may state it. A replayed module has the assumptions that the replay was made with.
 */
function reportAssumptions(file: YamlFile, path: Path, record: Fields, defaults: Fields): boolean {
  const { source } = record
  if (source !== 'ledger' && source !== 'returns') return true
  const missing = ASSUMPTIONS.filter(key => record[key] === undefined || record[key] === null)
  if (record.tick_size === undefined && defaults.tick_size === undefined) missing.push('tick_size')
  if (missing.length === 0) return true
  const history = source === 'ledger' ? 'a ledger' : 'reported returns'
  file.report(
    path,
    `expected ${listed(missing)} of ${history}, got nothing: state in this entry what its maker assumed, where 0 is a ` +
      'statement too, because no default can know it',
  )
  return false
}

function reportReplays(file: YamlFile, path: Path, { source, replayed_at }: Fields): boolean {
  if (replayed_at === undefined || (source !== 'ledger' && source !== 'returns')) return true
  const message = 'expected no such key, because only a module can be replayed at another risk level'
  file.report([...path, 'replayed_at'], `${message}, got ${got(replayed_at)}`)
  return false
}

/** False if its files are not known. Of two strategies with one id the first one keeps the source file. */
function claim(
  file: YamlFile,
  path: Path,
  {
    record,
    named,
    defaults,
  }: { readonly record: Fields; readonly named: unknown; readonly defaults: Fields },
  claims: Map<string, Claim>,
): boolean {
  const wanted = claimSchema.safeParse({ ...defaults, ...record }).data
  if (wanted === undefined) return false
  if (claims.has(wanted.id)) {
    file.report([...path, 'id'], `expected an id of its own, got ${got(wanted.id)} again`)
    return false
  }
  const pathOf = (field: string): Path =>
    !(field in record) && field in defaults ? ['defaults', field] : [...path, field]
  claims.set(wanted.id, {
    ...wanted,
    file: readNamed(file, [...path, 'file'], named, wanted.source),
    report: (field, message) => file.report(pathOf(field), message),
    inceptionPlace: file.place([...path, 'inception']),
  })
  return true
}

export type NamedFile =
  | ({ readonly source: 'ledger' } & LedgerSpec)
  | ({ readonly source: 'returns' } & ReturnsSpec)

/** The `file` of a strategy: a module is code and has none. */
function readNamed(
  file: YamlFile,
  path: Path,
  value: unknown,
  source: Claim['source'],
): NamedFile | null | undefined {
  if (value === undefined) return null
  const record = toMap(file, path, value)
  if (record === null) return undefined
  if (source === 'ledger') {
    const spec = soundFields(file, path, record, ledgerFileShape)
    return spec === null ? undefined : { source, ...spec }
  }
  if (source === 'returns') {
    const spec = soundFields(file, path, record, returnsFileShape)
    return spec === null ? undefined : { source, ...spec }
  }
  file.report(path, 'expected no file for a module, which is strategies/<id>.ts, got one')
  return undefined
}
