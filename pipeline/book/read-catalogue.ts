import { z } from 'zod'
import {
  type CatalogueStrategy,
  catalogueShape,
  fundingStatement,
  type StrategySchema,
  serviceShape,
  strategySchema,
} from './catalogue.ts'
import { type Fault, type Fields, got, listed, mapSchema, type Path, soundFields } from './field.ts'
import type { Place } from './problem.ts'
import type { Reading } from './reading.ts'
import { readYaml, type YamlFile } from './yaml.ts'

export const CATALOGUE_FILE = 'catalogue.yaml'

/** The fields of a strategy that are valid, the defaults merged under them: they determine its files. */
export type Claim = Partial<CatalogueStrategy> &
  Pick<CatalogueStrategy, 'id' | 'source'> & {
    /** Null if something is wrong with it. */
    readonly strategy: CatalogueStrategy | null
    /** Reports a problem at one of its fields in the catalogue, or at the default that it takes. */
    readonly report: (field: 'source' | 'instrument' | 'inception' | 'ended', message: string) => void
    /** The place of its inception in the catalogue, or of the strategy if it has none. */
    readonly inceptionPlace: Place
  }

export type Catalogue = NonNullable<Awaited<ReturnType<typeof readCatalogue>>>

/**
 * Reads `catalogue.yaml`: each part, or null if it has a problem, and every strategy whose source is known, sound or not, in the order
 * of the file, because its files are checked in any case. Null if nothing in it can be used; all problems are reported.
 */
export async function readCatalogue(reading: Reading, folder: ReadonlySet<string>) {
  const file = await readYaml(reading, CATALOGUE_FILE)
  const root = file?.read([], mapSchema) ?? null
  if (file === null || root === null) return null
  file.read([], z.strictObject(catalogueShape))
  const { service = null, funding, accept, imports, strategies = [] } = soundFields(catalogueShape, root)
  const claims = readClaims(file, root, strategies.length)
  const instruments = claims.flatMap(({ instrument }) => instrument ?? [])
  // If a strategy does not say which instrument it trades, any may be stated.
  const isKnown = instruments.length === strategies.length && funding !== undefined
  const stated = isKnown ? readFunding(file, funding ?? {}, instruments) : null
  checkImports(file, folder, imports ?? {})
  return { service, funding: stated, accept: accept ?? [], imports: imports ?? {}, claims }
}

/** The part `imports` is about tables of the book, packed or not. A table has one statement. */
function checkImports(file: YamlFile, folder: ReadonlySet<string>, imports: Fields) {
  const tables = [...folder].filter(path => /^(?:bars|funding|ledgers|returns)\/.*\.csv(?:\.gz)?$/.test(path))
  const plain = tables.map(path => path.replace(/\.gz$/, ''))
  const packed = plain.filter(path => !(path in imports)).map(path => `${path}.gz`)
  const shape = Object.fromEntries([...plain, ...packed].map(path => [path, z.string().optional()]))
  file.read(['imports'], z.strictObject(shape), imports)
}

/** The part `funding`. Null if it has a problem: then nothing is known about any of the instruments. */
function readFunding(file: YamlFile, record: Fields, instruments: readonly string[]) {
  const shape = Object.fromEntries(instruments.map(instrument => [instrument, fundingStatement]))
  const stated = file.read(['funding'], z.strictObject(shape), record)
  return stated && new Map(Object.entries(stated))
}

/** Of two strategies with one id the first one keeps the source file. */
function readClaims(file: YamlFile, root: Fields, count: number): Claim[] {
  // The cap, and what the defaults state, whatever else is wrong with them.
  const cap = soundFields(serviceShape, Object(root.service)).max_modelled_risk_pct ?? 1
  const defaults = mapSchema.safeParse(root.defaults).data ?? {}
  const schema = strategySchema(cap)
  const claims = new Map<string, Claim>()
  for (let i = 0; i < count; i++) {
    const path = ['strategies', i]
    const claim = readClaim(file, path, schema, defaults)
    if (claim === null) continue
    if (!claims.has(claim.id)) claims.set(claim.id, claim)
    else file.report([...path, 'id'], `expected an id of its own, got ${got(claim.id)} again`)
  }
  return [...claims.values()]
}

/** Null if its files are not known. */
function readClaim(file: YamlFile, path: Path, schema: StrategySchema, defaults: Fields): Claim | null {
  const record = file.read(path, mapSchema)
  if (record === null) return null
  const faults = explainSource(record, defaults)
  for (const [at, message] of faults) file.report([...path, ...at], message)
  file.read(path, schema)
  const merged = { ...defaults, ...record }
  const fields = soundFields(schema.shape, merged)
  const { id, source } = fields
  if (id === undefined || source === undefined) return null
  const pathOf = (field: string): Path =>
    field in defaults && !(field in record) ? ['defaults', field] : [...path, field]
  return {
    ...fields,
    id,
    source,
    strategy: (faults.length === 0 && schema.safeParse(merged).data) || null,
    report: (field, message) => file.report(pathOf(field), message),
    inceptionPlace: file.place([...path, 'inception']),
  }
}

/** What the maker of a history assumed: nothing here can know it, so no default may stand for it. */
const ASSUMPTIONS = ['commission_bps_per_side', 'slippage_ticks', 'engine']

/**
 * What a strategy lacks, or may not have, by its source. A ledger or reported returns state their assumptions themselves; the
 * tick is of the instrument, so that the defaults may state it. A replayed module has those that the replay was made with.
 */
function explainSource({ source, ...record }: Fields, defaults: Fields): readonly Fault[] {
  const lacks = (key: string): boolean => record[key] === undefined || record[key] === null
  if (source === 'module' && lacks('timeframe'))
    return [[['timeframe'], 'expected the timeframe of the bars that the module is replayed on, got nothing']]
  if (source !== 'ledger' && source !== 'returns') return []
  const faults: Fault[] = []
  const missing = ASSUMPTIONS.filter(lacks)
  if (record.tick_size === undefined && defaults.tick_size === undefined) missing.push('tick_size')
  const what = `${listed(missing)} of ${source === 'ledger' ? 'a ledger' : 'reported returns'}`
  const why =
    'state in this entry what its maker assumed, where 0 is a statement too, because no default can know it'
  if (missing.length > 0) faults.push([[], `expected ${what}, got nothing: ${why}`])
  const expected = 'expected no such key, because only a module can be replayed at another risk level'
  if (record.replayed_at !== undefined)
    faults.push([['replayed_at'], `${expected}, got ${got(record.replayed_at)}`])
  return faults
}
