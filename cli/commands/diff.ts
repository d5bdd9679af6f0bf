import { z } from 'zod'
import { privateKey } from '#core/contract/artifacts.ts'
import type { CurrentVersion } from '#core/contract/manifest.ts'
import type { StrategyChanges } from '#core/contract/payloads/changes.ts'
import { compareSnapshots } from '#core/dataset/compare-snapshots.ts'
import { isRestated } from '#core/dataset/restated.ts'
import { counted } from '#pipeline/book/field.ts'
import { readPublishedSnapshot } from '#static-build/compare-with-published.ts'
import { shortened, toText } from '#static-build/declarations.ts'
import { assertThere, findPublication } from '#static-build/move-pointer.ts'
import { readDocument } from '#storage/json-bytes.ts'
import type { Stores } from '#storage/object-store.ts'
import { publicationsOf, readLog } from '#storage/pointer-log.ts'
import { readManifest } from '#storage/published-files.ts'
import { define, flag } from '../options/command.ts'
import { openStores, readSettings, STORE_OPTIONS, type StoreOptions } from '../options/store-option.ts'
import type { Runtime } from '../runtime.ts'

export const defineDiff = define(
  { ...STORE_OPTIONS, json: flag('print the changes as one JSON document') },
  '\nExample:\n  highwater diff 2026-11-20T00:15:00Z 2026-11-21T00:15:00Z',
  async (options, runtime, before = '', after = '') => {
    const changes = await compare(before, after, options, runtime)
    runtime.terminal.result(options.json, changes, linesOf(changes))
  },
  { '<before>': 'a published version, as listed by `highwater versions`', '<after>': 'a later one' },
)

/** The changes, and for each restated strategy what differs in its inputs; `causes` is empty if these are not known. */
async function compare(before: string, after: string, options: StoreOptions, runtime: Runtime) {
  const stores = await openStores(readSettings(options, runtime))
  const { store } = stores
  const publications = publicationsOf(await readLog(store))
  const read = async (version: string) => {
    const publication = findPublication(store, publications, version)
    await assertThere(store, version)
    const snapshot = await readPublishedSnapshot(stores, publication)
    return { snapshot, inputs: await readInputs(stores, publication) }
  }
  const [old, now] = [await read(before), await read(after)]
  const changes = compareSnapshots(old.snapshot, now.snapshot)
  if (old.inputs === null || now.inputs === null) return { ...changes, causes: {} }
  const instruments = new Map(now.snapshot.strategies.map(({ id, instrument }) => [id, instrument]))
  const causes = changes.strategies
    .filter(isRestated)
    .map(each => [each.id, findCauses(old.inputs!, now.inputs!, each, instruments.get(each.id)!)] as const)
  return { ...changes, causes: Object.fromEntries(causes) }
}

const linesOf = ({
  definitions = [],
  strategies,
  causes,
  ...changes
}: Awaited<ReturnType<typeof compare>>) => [
  `${changes.previous} -> ${changes.version}: ${changes.history_restated ? 'history is restated' : 'history is only appended to'}`,
  ...definitions.map(({ figure, from, to }) => `${figure}: ${from} -> ${to}`),
  ...(changes.filled_gaps ?? []).map(({ of, from, to }) => `${of}: the gap from ${from} to ${to} is filled`),
  ...(changes.dataset ?? []).map(each => `${each.field}: ${toText(each)}`),
  ...changes.added.map(id => `${id}: new`),
  ...changes.removed.map(id => `${id}: gone`),
  ...strategies.flatMap(each => [lineOf(each), ...causeLines(causes[each.id])]),
]

const causeLines = (causes: Causes | undefined): string[] =>
  Object.entries(causes ?? {})
    .filter(([, what]) => what.length > 0)
    .map(([kind, what]) => `  ${kind} differ${kind === 'code' ? 's' : ''}: ${what.join(', ')}`)

const lineOf = ({ id, daily, trades, catalogue }: StrategyChanges): string =>
  [
    `${id}: ${daily.appended === null ? 'no new day' : `days to ${daily.appended.to} (+${daily.appended.n})`}`,
    counted(trades.appended, 'new trade'),
    ...shortened(
      'days',
      daily.restated.map(each => `${each.t}: ${toText(each)}`),
      daily.restated_count,
    ),
    ...(trades.restated_count > 0 ? [`${counted(trades.restated_count, 'trade')} restated`] : []),
    ...catalogue.map(({ field }) => `${field} changed`),
  ].join(', ')

/** What differs between the inputs of two versions, as far as it concerns one strategy. */
type Causes = Readonly<Record<'parameters' | 'code' | 'data', readonly string[]>>

const recordSchema = z.object({
  inputs: z.array(z.object({ path: z.string(), sha256: z.string() })),
  modules: z.record(z.string(), z.array(z.string())),
})

type Inputs = NonNullable<Awaited<ReturnType<typeof readInputs>>>

/** The files of its book by path, those of each module, and the code; null if their private record is not there, or has another form. */
async function readInputs({ store, privateStore }: Stores, current: CurrentVersion) {
  const { version, built_with } = await readManifest(store, current)
  const record = await readDocument(privateStore, privateKey(version, 'inputs.json'), recordSchema)
  if (!record) return null
  const files = new Map(record.inputs.map(({ path, sha256 }) => [path, sha256]))
  return { files, modules: record.modules, code: built_with.commit ?? built_with.highwater }
}

/** Which inputs of a strategy differ. A file with other bytes is only a possible cause: new rows alone restate nothing. */
function findCauses(before: Inputs, after: Inputs, changes: StrategyChanges, instrument: string): Causes {
  const { id, catalogue } = changes
  const paths = new Set([...before.files.keys(), ...after.files.keys()])
  const changed = [...paths].filter(path => before.files.get(path) !== after.files.get(path)).sort()
  const spelled = (names: ReadonlySet<string>) =>
    catalogue.filter(({ field }) => names.has(field)).map(each => `${each.field} ${toText(each)}`)
  const fields = spelled(PARAMETERS)
  const isOther = fields.length === 0 && changed.includes('catalogue.yaml')
  /** Of the module and of all that it imports, in either version. */
  const code = new Set([before, after].flatMap(({ modules }) => modules[id] ?? []))
  const isOwn = (path: string): boolean => {
    const [folder = '', name = ''] = path.split('/')
    if (folder === 'bars') return name === instrument
    if (folder === 'funding') return name.startsWith(`${instrument}.`)
    if (folder === 'ledgers' || folder === 'returns') return name.startsWith(`${id}.`)
    return !['strategies', 'charting', 'catalogue.yaml', 'program.yaml'].includes(folder)
  }
  return {
    parameters: isOther ? ['catalogue.yaml'] : fields,
    code: [
      ...spelled(new Set(['module_version'])),
      ...changed.filter(path => code.has(path)),
      ...(before.code === after.code ? [] : [`Highwater ${before.code} -> ${after.code}`]),
    ],
    data: changed.filter(isOwn),
  }
}

/** The fields of the catalogue that a history follows from. */
const PARAMETERS = new Set([
  'instrument',
  'base_risk_pct',
  'commission_bps_per_side',
  'slippage_ticks',
  'tick_size',
  'funding',
  'inception',
  'ended',
])
