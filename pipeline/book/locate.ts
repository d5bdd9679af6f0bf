import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type LineCounter, type Node } from 'yaml'

/** A place in a text, both from 1. */
export type Place = { readonly line: number; readonly column: number }

export type Path = readonly (string | number)[]

/**
 * Where the value at `path` begins, or its key with `part: 'key'`. What is missing is at the innermost thing around
 * it that is there; what stands behind an alias is where its anchor is, because that is the text to mend.
 */
export function locate(
  doc: Document,
  lines: LineCounter,
  path: Path,
  part: 'key' | 'value' = 'value',
): Place {
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
