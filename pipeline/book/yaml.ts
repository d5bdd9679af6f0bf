import { isUtf8 } from 'node:buffer'
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml'
import type { z } from 'zod'
import { type Path, problemsOf, valueAt } from './field.ts'
import type { Place } from './problem.ts'
import { NOT_UTF8, type Reading, readWhole, reporterOf } from './reading.ts'

/** Where a value or its key begins: of what is missing, the innermost thing around it; of an alias, its anchor, to be corrected. */
function locate(doc: Document, lines: LineCounter, path: Path, part: 'key' | 'value' = 'value'): Place {
  let node: Node | null = doc.contents
  let found = node
  for (const [depth, step] of path.entries()) {
    const wanted = depth === path.length - 1 ? part : 'value'
    node = childOf(isAlias(node) ? (node.resolve(doc) ?? null) : node, step, wanted)
    if (node === null) break
    found = node
  }
  const { line, col } = lines.linePos(found?.range?.[0] ?? 0)
  return { line, column: col }
}

function childOf(node: Node | null, step: string | number, part: 'key' | 'value'): Node | null {
  if (isSeq(node)) return toNode(node.items[Number(step)])
  if (!isMap(node)) return null
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step)
  return toNode(pair?.[part])
}

const toNode = (item: unknown): Node | null => (isNode(item) ? item : null)

export type YamlFile = NonNullable<Awaited<ReturnType<typeof readYaml>>>

/** Aliases that expand to more nodes than this are a mistake, or an attack on the reader's memory. */
const MAX_ALIAS_COUNT = 1000

/**
 * Reads a YAML 1.2 file of the book; anchors, aliases and merge keys are fine, duplicate keys are problems.
 * Null if the text is not YAML at all: its problems are then in `reading.problems`.
 */
export async function readYaml(reading: Reading, path: string) {
  const bytes = await readWhole(reading, path)
  if (bytes === null) return null
  const text = bytes.toString('utf8')
  if (!isUtf8(bytes)) reportEncoding(reading, path, text)
  const lines = new LineCounter()
  const doc = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false })
  reportSyntax(reading, path, doc, lines)
  if (doc.errors.some(({ code }) => code !== 'DUPLICATE_KEY')) return null
  let root: unknown
  try {
    root = doc.toJS({ maxAliasCount: MAX_ALIAS_COUNT })
  } catch (error) {
    // The only thing that can fail here is an alias: one without an anchor, or too many.
    if (!(error instanceof ReferenceError)) throw error
    return reporterOf(reading, path)(`expected at most ${MAX_ALIAS_COUNT} aliased nodes: ${error.message}`)
  }
  return openFile(reading, path, doc, root, lines)
}

function openFile({ problems }: Reading, path: string, doc: Document, root: unknown, lines: LineCounter) {
  const report = (at: Path, message: string, part: 'key' | 'value' = 'value'): void => {
    const said = part === 'key' ? at.slice(0, -1) : at
    const prefix = said.length === 0 ? '' : `${spell(said)}: `
    problems.add({ file: path, ...locate(doc, lines, at, part), message: prefix + message })
  }
  /** The value at a path, or what takes its place, by its schema; null if it has problems, which are reported. */
  const read = <Schema extends z.ZodType>(at: Path, schema: Schema, value: unknown = valueAt(root, at)) => {
    const found = problemsOf(schema, value)
    for (const each of found) report([...at, ...each.path], each.message, each.part)
    return found.length === 0 ? schema.parse(value) : null
  }
  return {
    value: root,
    read,
    /** Reports a problem at the value under a path, or at its key; the message begins with the path. */
    report,
    /** The place of the value at a path, or of the innermost value around it that exists. */
    place: (at: Path): Place => locate(doc, lines, at),
  }
}

/** Bytes that are not UTF-8 are decoded as a mark, which would be published in a name. */
function reportEncoding(reading: Reading, path: string, text: string): void {
  const message = 'expected UTF-8, got bytes of another encoding: save the file as UTF-8'
  for (const [i, content] of text.split('\n').entries())
    if (content.includes(NOT_UTF8)) reading.problems.add({ file: path, line: i + 1, message })
}

function reportSyntax(reading: Reading, path: string, doc: Document, lines: LineCounter): void {
  for (const { pos, message } of [...doc.errors, ...doc.warnings]) {
    const { line, col } = lines.linePos(pos[0])
    reading.problems.add({ file: path, line, column: col, message: `expected YAML: ${message}` })
  }
}

/** `strategies[2].base_risk_pct`. */
const spell = (path: Path): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('')
