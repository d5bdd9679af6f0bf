import { z } from 'zod'
import { parseIsoDate } from '#core/calendar.ts'
import { nearestTo } from '#core/contract/near-miss.ts'

/** Where a value is in a document: keys and indices. */
export type Path = readonly (string | number)[]

/** What is wrong with one field of a document: with its value, or with the key itself. */
export type FieldProblem = { readonly path: Path; readonly part: 'key' | 'value'; readonly message: string }

/**
 * All problems of a value, one for each field, which is the innermost one whose schema has `expected` in its metadata: the text
 * of what is expected. A schema with a more exact message raises a custom issue whose parameter `sentence` takes its place.
 */
export function problemsOf(schema: z.core.$ZodType, value: unknown): FieldProblem[] {
  const found = (z.safeParse(schema, value).error?.issues ?? []).flatMap(issue =>
    explain(schema, issue, value),
  )
  return [...Map.groupBy(found, ({ path }) => path.join('\n')).values()].map(([first]) => first!)
}

function explain(schema: z.core.$ZodType, issue: z.core.$ZodIssue, value: unknown): FieldProblem[] {
  const steps = issue.path.filter(step => typeof step !== 'symbol')
  const { path, inner, expected } = fieldAt(schema, steps) ?? { path: steps, expected: 'another value' }
  if (issue.code === 'unrecognized_keys' && inner instanceof z.ZodObject) {
    const known = Object.keys(inner.shape)
    return issue.keys.map(key => ({ path: [...path, key], part: 'key', message: unknownKey(key, known) }))
  }
  if (issue.code === 'custom' && issue.params?.sentence !== undefined)
    return [{ path: steps, part: 'value', message: String(issue.params.sentence) }]
  return [{ path, part: 'value', message: `expected ${expected}, got ${got(valueAt(value, path))}` }]
}

type Field = { readonly path: Path; readonly inner?: z.core.$ZodType; readonly expected: unknown }

/** The innermost field on the way to a value that says what it expects; null if none does. */
function fieldAt(schema: z.core.$ZodType, [step, ...rest]: Path, path: Path = []): Field | null {
  const inner = layersOf(schema).at(-1)!
  const isMap = inner instanceof z.ZodObject
  const expected = expectedOf(schema) ?? (isMap && step === undefined ? 'a map' : undefined)
  const own = expected === undefined ? null : { path, inner, expected }
  if (step === undefined) return own
  const element = inner instanceof z.ZodArray ? inner.element : undefined
  const next: z.core.$ZodType | undefined = isMap ? inner.shape[step] : element
  return (next && fieldAt(next, rest, [...path, step])) ?? own
}

/** A schema, and those inside its defaults, `nullable` and `optional`, or before its transformations. */
function layersOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodPipe) return [schema, ...layersOf(schema.in)]
  const isWrapper =
    schema instanceof z.ZodNullable || schema instanceof z.ZodDefault || schema instanceof z.ZodOptional
  return isWrapper ? [schema, ...layersOf(schema.unwrap())] : [schema]
}

/** What is expected of a value by its schema, or by the one inside it. */
export const expectedOf = (schema: z.core.$ZodType): unknown =>
  layersOf(schema)
    .map(each => z.globalRegistry.get(each)?.expected)
    .find(expected => expected !== undefined)

export type Fields = Readonly<Record<string, unknown>>
export const mapSchema = z.record(z.string(), z.unknown()).meta({ expected: 'a map' })

/** A schema with what is expected of it. */
export const field = <Schema extends z.ZodType>(schema: Schema, expected: string): Schema =>
  schema.meta({ expected })

export const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().default(null)

/** One line of text, because it also travels in headers and in CSV. */
export const line = (maxChars: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(maxChars)
    .regex(/^\P{Cc}*$/u)

/** `2026-06-30` as a day. */
export const date = z.string().transform(parseIsoDate).pipe(z.int())

export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((outer, step) => Object(outer)[step], value)

/** The fields of a record that are sound by themselves. */
export function soundFields<Shape extends z.ZodRawShape>(shape: Shape, record: Fields) {
  const fields = Object.entries(shape).flatMap(([key, schema]) => {
    const { data } = z.safeParse(schema, record[key])
    return data === undefined ? [] : [[key, data]]
  })
  return Object.fromEntries(fields) as Partial<z.infer<z.ZodObject<Shape>>> // each is of its schema
}

export type Fault = readonly [path: Path, sentence: string]

/** A rule about parts of a value that are sound by themselves: it returns what is wrong, and where. */
export const between =
  <Value>(faultsIn: (value: Value) => readonly Fault[]) =>
  (value: Value, context: z.core.$RefinementCtx<Value>): void => {
    if (context.issues.length > 0) return
    for (const [path, sentence] of faultsIn(value))
      context.addIssue({ code: 'custom', path: [...path], params: { sentence } })
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

/** What older catalogues named with `bars` and `file`. */
const FILES = 'bring files from elsewhere into the book with `highwater import`'

const unknownKey = (key: string, known: readonly string[]): string =>
  `unknown key ${JSON.stringify(key)}; ${/^(?:bars|file)$/.test(key) ? FILES : hint(key, known, 'key')}`
