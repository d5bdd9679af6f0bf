import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSeq, parseDocument, stringify } from 'yaml'
import { settingsShape } from './catalogue.ts'
import { CATALOGUE_FILE } from './read-catalogue.ts'

/** The catalogue of a book that an import begins: it builds, and its texts are to be replaced. */
const SERVICE = {
  name: 'Imported histories',
  methodology_url: 'https://example.com/methodology',
  data_source: 'Imported files',
  engine: 'Histories made elsewhere',
}

const DEFAULT_INSTRUMENT = settingsShape.instrument.parse(undefined)

/** A catalogue that is to be extended by strategies. */
export type OpenCatalogue = {
  readonly ids: readonly unknown[]
  /** The modules that are replayed on bars of an instrument. */
  readonly modulesOn: (instrument: string) => readonly string[]
  /** Keeps what was stated at the import of a table, or that nothing was; the text, null if it does not change. */
  readonly state: (path: string, stated: string | null) => string | null
  /** The text with another strategy, which is the last one, and an instrument that has no funding. */
  readonly with: (entry: Readonly<Record<string, unknown>>, unfunded: string | null) => string
}

/** Opens the catalogue of a book, or begins one. Throws if there is one that is not sound enough. */
export async function openCatalogue(dir: string): Promise<OpenCatalogue> {
  const text = await readFile(join(dir, CATALOGUE_FILE), 'utf8').catch(orNull)
  const doc = parseDocument(text ?? stringify({ service: SERVICE, funding: {}, strategies: [] }))
  const strategies = doc.get('strategies')
  if (doc.errors.length > 0 || !isSeq(strategies))
    throw new Error(
      `expected a list of strategies in ${CATALOGUE_FILE}, got none: run \`highwater check\` and correct it`,
    )
  if (text === null) strategies.flow = false
  return {
    ids: strategies.items.map((_, i) => doc.getIn(['strategies', i, 'id'])),
    modulesOn: instrument =>
      strategies.items.flatMap((_, i) => {
        const [id, source, own] = ['id', 'source', 'instrument'].map(key => doc.getIn(['strategies', i, key]))
        const traded = own ?? doc.getIn(['defaults', 'instrument']) ?? DEFAULT_INSTRUMENT
        return source === 'module' && traded === instrument ? [String(id)] : []
      }),
    state(path, stated) {
      const place = ['imports', path]
      if ((doc.getIn(place) ?? null) === stated) return null
      if (stated === null) doc.deleteIn(place)
      else doc.setIn(place, stated)
      return doc.toString({ lineWidth: 0 })
    },
    with(entry, unfunded) {
      if (unfunded !== null && !doc.hasIn(['funding', unfunded])) doc.setIn(['funding', unfunded], 'none')
      strategies.add(doc.createNode(entry))
      return doc.toString({ lineWidth: 0 })
    },
  }
}

function orNull(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
  throw error
}
