import { type Document, LineCounter, parseDocument } from 'yaml'
import { locate, type Path, type Place } from './locate.ts'
import { type Reading, readWhole } from './reading.ts'

export type YamlFile = {
  readonly value: unknown
  /** Where the value under `path` stands, or the innermost thing around it that is there. */
  place(path: Path): Place
  /** Reports a problem at the value under `path`, or at its key; the path is spelled out before the message. */
  report(path: Path, message: string, part?: 'key' | 'value'): void
}

/** Aliases that expand to more nodes than this are a mistake, or an attack on the reader's memory. */
const MAX_ALIAS_COUNT = 1000

/**
 * Reads a YAML 1.2 file of the book; anchors, aliases and merge keys are fine, duplicate keys are problems. Null where
 * the text is not YAML at all: its problems are then in `reading.problems`.
 */
export async function readYaml(reading: Reading, path: string): Promise<YamlFile | null> {
  const bytes = await readWhole(reading, path)
  if (bytes === null) return null
  const lines = new LineCounter()
  const doc = parseDocument(bytes.toString('utf8'), { lineCounter: lines, merge: true, prettyErrors: false })
  reportSyntax(reading, path, doc, lines)
  if (doc.errors.some(({ code }) => code !== 'DUPLICATE_KEY')) return null
  const expanded = expand(reading, path, doc)
  if (expanded === null) return null
  return {
    ...expanded,
    place: at => locate(doc, lines, at),
    report: (at, message, part = 'value') => {
      const said = part === 'key' ? at.slice(0, -1) : at
      reading.problems.add({
        file: path,
        ...locate(doc, lines, at, part),
        message: said.length === 0 ? message : `${spell(said)}: ${message}`,
      })
    },
  }
}

function reportSyntax(reading: Reading, path: string, doc: Document, lines: LineCounter): void {
  for (const { pos, message } of [...doc.errors, ...doc.warnings]) {
    const { line, col } = lines.linePos(pos[0])
    reading.problems.add({ file: path, line, column: col, message: `expected YAML: ${message}` })
  }
}

/** The value with its aliases followed; null where there are too many of them. */
function expand(reading: Reading, path: string, doc: Document): { readonly value: unknown } | null {
  try {
    return { value: doc.toJS({ maxAliasCount: MAX_ALIAS_COUNT }) }
  } catch (error) {
    // The only thing that can fail here is an alias: one without an anchor, or too many.
    if (!(error instanceof ReferenceError)) throw error
    reading.problems.add({
      file: path,
      message: `expected at most ${MAX_ALIAS_COUNT} aliased nodes: ${error.message}`,
    })
    return null
  }
}

/** `strategies[2].base_risk_pct`. */
const spell = (path: Path): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('')
