import { got } from './field.ts'

/** A header or a row is shown whole, unless it is absurd. */
const MAX_SHOWN_CHARS = 200

/** The columns of a table by their exact names. Their order in a file is free; any other column is an error. */
export type Columns = {
  readonly required: readonly string[]
  readonly optional: readonly string[]
  /** Whether at least one of the optional columns has to be there. */
  readonly needsOptional: boolean
  /** Whether a header without rows is a table. */
  readonly mayBeEmpty: boolean
}

export type Header = {
  /** In the order of the file. */
  readonly names: readonly string[]
  /** Brings the fields of a row into the order of the columns; a column that the file lacks is blank. */
  arrange(fields: readonly string[]): readonly string[]
}

/** Null unless each name is a column, none comes twice and none that has to be there is missing. */
export function toHeader(names: readonly string[], columns: Columns): Header | null {
  const { required, optional, needsOptional } = columns
  const wanted = [...required, ...optional]
  const isSound =
    names.every(name => wanted.includes(name)) &&
    new Set(names).size === names.length &&
    required.every(name => names.includes(name)) &&
    (!needsOptional || optional.some(name => names.includes(name)))
  if (!isSound) return null
  // Most files have the columns as the documentation has them; then no row is copied.
  if (names.join() === wanted.join()) return { names, arrange: fields => fields }
  const places = wanted.map(name => names.indexOf(name))
  return { names, arrange: fields => places.map(place => fields[place] ?? '') }
}

/** Why `toHeader` said no. */
export function explainHeader(line: string, { required, optional, needsOptional }: Columns): string {
  const others =
    optional.length === 0 ? '' : ` and ${needsOptional ? 'at least one' : 'any'} of ${optional.join(',')}`
  return `expected the columns ${required.join(',')}${others}, in any order, got ${got(line, MAX_SHOWN_CHARS)}`
}

/** Why a row does not fit its header. `fields` is null where a quote does not close. */
export function explainLength(line: string, fields: readonly string[] | null, { names }: Header): string {
  const expected = `expected ${names.length} fields (${names.join(',')})`
  if (line.trim() === '') return `${expected}, got a blank line`
  if (fields === null)
    return `${expected}, got a field whose quotes do not match: ${got(line, MAX_SHOWN_CHARS)}`
  return `${expected}, got ${fields.length}: ${got(line, MAX_SHOWN_CHARS)}`
}
