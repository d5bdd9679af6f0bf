import { z } from 'zod'
import { nearestTo } from '#core/contract/near-miss.ts'

/** What is wrong with one field of a record: with its value, or with the key itself. */
export type FieldProblem = { readonly key: string; readonly part: 'key' | 'value'; readonly message: string }

/**
 * All problems of a record, in the order of its shape, unknown keys last. The text of what is expected is
 * `expected` in the metadata of the schema; a schema with a more exact message raises a custom issue whose
 * parameter `sentence` takes its place. The typed values come from parsing the same shape with `z.object`.
 */
export function fieldProblems(
  shape: z.ZodRawShape,
  record: Readonly<Record<string, unknown>>,
): FieldProblem[] {
  const problems: FieldProblem[] = []
  for (const [key, schema] of Object.entries(shape)) {
    const issue = z.safeParse(schema, record[key]).error?.issues[0]
    if (issue !== undefined)
      problems.push({ key, part: 'value', message: explain(schema, issue, record[key]) })
  }
  const known = Object.keys(shape)
  for (const key of Object.keys(record)) {
    if (!known.includes(key)) problems.push({ key, part: 'key', message: unknownKey(key, known) })
  }
  return problems
}

/** The metadata of a schema, or of the schema inside a default, `nullable` or `optional`. */
export function metaOf(schema: z.core.$ZodType): z.core.GlobalMeta | undefined {
  const own = z.globalRegistry.get(schema)
  const isWrapper =
    schema instanceof z.ZodNullable || schema instanceof z.ZodDefault || schema instanceof z.ZodOptional
  return own ?? (isWrapper ? metaOf(schema.unwrap()) : undefined)
}

/** A value in a message: a text in quotes, cut if it is long; a blank as `nothing`. */
export function got(value: unknown, maxChars = MAX_SHOWN_CHARS): string {
  if (value === undefined || value === null || value === '') return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}...`
}

/** `the nearest key is "name"`: the known word with the fewest letters to change, or all known words. */
export function hint(word: string, known: readonly string[], noun: string): string {
  const nearest = nearestTo(word, known)
  return nearest === null
    ? `the known ${noun}s are ${listed(known)}`
    : `the nearest ${noun} is ${JSON.stringify(nearest)}`
}

/** A count with its noun, as in a sentence. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** `alder, birch and 3 more`: a list for a message, at most `MAX_LISTED` of it spelled out. */
export function listed(words: readonly string[]): string {
  if (words.length > MAX_LISTED)
    return `${words.slice(0, MAX_LISTED).join(', ')} and ${words.length - MAX_LISTED} more`
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(part => part !== '').join(' and ')
}

/** A message is one line of a terminal. */
const MAX_SHOWN_CHARS = 60
const MAX_LISTED = 8

const explain = (schema: z.core.$ZodType, issue: z.core.$ZodIssue, value: unknown): string =>
  issue.code === 'custom' && issue.params?.sentence !== undefined
    ? String(issue.params.sentence)
    : `expected ${metaOf(schema)?.expected ?? 'another value'}, got ${got(value)}`

const unknownKey = (key: string, known: readonly string[]): string =>
  `unknown key ${JSON.stringify(key)}; ${hint(key, known, 'key')}`
