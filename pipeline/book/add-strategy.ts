import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSeq, parseDocument, stringify } from 'yaml'
import { ifThere } from '#storage/error-code.ts'
import { settingsShape } from './catalogue.ts'
import { CATALOGUE_FILE } from './read-catalogue.ts'

/** The catalogue of a book that an import begins: it builds, and its texts are to be replaced. */
const SERVICE = {
  name: 'Imported histories',
  methodology_url: 'https://example.com/methodology',
  data_source: 'Imported files',
  engine: 'Histories made elsewhere',
}

/** Opens the catalogue of a book to extend it, or begins one. Throws if there is one that is not sound enough. */
export async function openCatalogue(dir: string) {
  const text = await ifThere(readFile(join(dir, CATALOGUE_FILE), 'utf8'), null)
  const doc = parseDocument(text ?? stringify({ service: SERVICE, funding: {}, strategies: [] }))
  const strategies = doc.get('strategies')
  if (doc.errors.length > 0 || !isSeq(strategies))
    throw new Error(
      `expected a list of strategies in ${CATALOGUE_FILE}, got none: run \`highwater check\` and correct it`,
    )
  if (text === null) strategies.flow = false
  let isChanged = false
  return {
    dir,
    ids: strategies.items.map((_, i) => doc.getIn(['strategies', i, 'id'])),
    /** The modules that are replayed on bars of an instrument. */
    modulesOn: (instrument: string): string[] =>
      strategies.items.flatMap((_, i) => {
        const [id, source, own] = ['id', 'source', 'instrument'].map(key => doc.getIn(['strategies', i, key]))
        const traded =
          own ?? doc.getIn(['defaults', 'instrument']) ?? settingsShape.instrument.parse(undefined)
        return source === 'module' && traded === instrument ? [String(id)] : []
      }),
    /** Keeps what was stated at the import of a table, or that nothing was; rows that are added are read as those before. */
    state(path: string, stated: string | null, isAdded: boolean): void {
      const place = ['imports', path]
      const before = doc.getIn(place) ?? null
      if (isAdded && before !== stated)
        throw new Error(
          `--append: expected what was stated about ${path} before, ${before ?? 'nothing'}, got ${stated ?? 'nothing'}: state the same, or import the whole file with --replace`,
        )
      isChanged ||= before !== stated
      if (stated !== null) doc.setIn(place, stated)
      else if (doc.hasIn(place)) doc.deleteIn(place)
    },
    /** Adds a strategy, which is the last one, and an instrument that has no funding. */
    add(entry: Readonly<Record<string, unknown>>, unfunded: string | null): void {
      if (unfunded !== null && !doc.hasIn(['funding', unfunded])) doc.setIn(['funding', unfunded], 'none')
      strategies.add(doc.createNode(entry))
      isChanged = true
    },
    /** The text with what was added; null if that is nothing, and it stays as its author wrote it. */
    text: (): string | null => (isChanged ? doc.toString({ lineWidth: 0 }) : null),
  }
}
