import { z } from 'zod'
import { privateKey } from '#core/contract/artifacts.ts'
import type { CurrentVersion } from '#core/contract/manifest.ts'
import type { StrategyChanges } from '#core/contract/payloads/changes.ts'
import type { Stores } from '#storage/object-store.ts'
import { readDocument } from '#storage/parse-json.ts'
import { readManifest } from '#storage/published-manifest.ts'
import { toText } from './declarations.ts'

/** What a published version was made of: the files of the book by path, those of each module, and the code. */
type Inputs = {
  readonly files: ReadonlyMap<string, string>
  readonly modules: Readonly<Record<string, readonly string[]>>
  readonly code: string
}

/** What differs between the inputs of two versions, as far as it concerns one strategy. */
export type Causes = Readonly<Record<'parameters' | 'code' | 'data', readonly string[]>>

const recordSchema = z.object({
  inputs: z.array(z.object({ path: z.string(), sha256: z.string() })),
  modules: z.record(z.string(), z.array(z.string())),
})

/** The inputs of a published version; null if their private record is not there, or has another form. */
export async function readInputs(
  { store, privateStore }: Stores,
  current: CurrentVersion,
): Promise<Inputs | null> {
  const { version, built_with } = await readManifest(store, current)
  const record = await readDocument(privateStore, privateKey(version, 'inputs.json'), recordSchema)
  if (!record) return null
  const files = new Map(record.inputs.map(({ path, sha256 }) => [path, sha256]))
  return { files, modules: record.modules, code: built_with.commit ?? built_with.highwater }
}

/**
 * Which inputs of a strategy differ. A file with other bytes is only a possible cause: its new rows alone restate
 * nothing.
 */
export function findCauses(
  before: Inputs,
  after: Inputs,
  changes: StrategyChanges,
  instrument: string,
): Causes {
  const { id, catalogue } = changes
  const paths = new Set([...before.files.keys(), ...after.files.keys()])
  const changed = [...paths].filter(path => before.files.get(path) !== after.files.get(path)).sort()
  const spelled = (names: ReadonlySet<string>) =>
    catalogue
      .filter(({ field }) => names.has(field))
      .map(({ field, old, new: now }) => `${field} ${toText(old)} -> ${toText(now)}`)
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
