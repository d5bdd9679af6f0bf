import type { Json, JsonObject } from './golden-statistics.ts'

/** Both implementations behind the goldens agree to this, on `|a - b| / max(1, |a|, |b|)`. */
const TOLERANCE = 1e-9

/**
 * Every way in which `actual` falls short of `expected`, a line each with its path. All of `expected` is visited; what
 * `actual` has beyond it is not specified by it. Objects with an `undefined` say why figures are null: there, every
 * reason expected must be given, and none may be given beyond them for a field that is expected.
 */
export function mismatches(expected: Json, actual: unknown, path = ''): string[] {
  if (Array.isArray(expected)) return compareLists(expected, actual, path)
  if (isObject(expected)) return compareObjects(expected, actual, path)
  if (typeof expected === 'number' && typeof actual === 'number' && isClose(expected, actual)) return []
  return expected === actual ? [] : [`${path}: expected ${expected}, got ${JSON.stringify(actual)}`]
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isClose = (a: number, b: number): boolean =>
  Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b))

function compareLists(expected: readonly Json[], actual: unknown, path: string): string[] {
  if (!Array.isArray(actual) || actual.length !== expected.length) {
    return [`${path}: expected a list of ${expected.length}, got ${JSON.stringify(actual)}`]
  }
  return expected.flatMap((item, i) => mismatches(item, actual[i], `${path}/${i}`))
}

function compareObjects(expected: JsonObject, actual: unknown, path: string): string[] {
  if (!isObject(actual)) return [`${path}: expected an object, got ${JSON.stringify(actual)}`]
  return Object.keys(expected).flatMap(key =>
    key === 'undefined'
      ? compareReasons(expected, actual, `${path}/undefined`)
      : mismatches(expected[key]!, actual[key], `${path}/${key}`),
  )
}

function compareReasons(expected: JsonObject, actual: JsonObject, path: string): string[] {
  const wanted = expected.undefined!
  const given = actual.undefined
  if (!isObject(given) || !isObject(wanted))
    return [`${path}: expected the reasons, got ${JSON.stringify(given)}`]
  const surplus = Object.keys(given).filter(field => !(field in wanted) && isSpecified(expected, field))
  return [
    ...mismatches(wanted, given, path),
    ...surplus.map(
      field => `${path}: ${field} is expected to exist, got the reason ${JSON.stringify(given[field])}`,
    ),
  ]
}

function isSpecified(block: JsonObject, field: string): boolean {
  let node: Json | undefined = block
  for (const step of field.split('/')) node = isObject(node) ? node[step] : undefined
  return node !== undefined
}
