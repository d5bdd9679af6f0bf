// The query parameters: what each accepts, and the one canonical text of what was accepted.
import { type EpochDay, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import type { Period } from '#core/figures/series.ts'
import { toText } from './decimal.ts'
import { ApiError, type ParameterProblem } from './errors.ts'
import { meantBy, nearestTo } from './near-miss.ts'

export const PERIODS = ['daily', 'weekly'] as const satisfies readonly Period[]
export const FORMATS = ['json', 'csv', 'arrow', 'parquet'] as const
export type Format = (typeof FORMATS)[number]

/** Formats of typed columns. Their bytes are sent as they are: doubles of ten digits compress little. */
export const isBinary = (format: Format): boolean => format === 'arrow' || format === 'parquet'

/** Every parameter of the history service after parsing. What a route does not know keeps its default. */
export type Params = {
  readonly sid: string
  readonly period: Period
  /** Requested risk level as a fraction, null for base risk. */
  readonly risk_pct: number | null
  readonly from: EpochDay | null
  readonly to: EpochDay | null
  /** Subset in the order asked for, null for all strategies in catalogue order. */
  readonly ids: readonly string[] | null
  readonly format: Format
}

export const DEFAULT_PARAMS: Params = {
  sid: '',
  period: 'daily',
  risk_pct: null,
  from: null,
  to: null,
  ids: null,
  format: 'json',
}

export const QUERY_NAMES = ['period', 'risk_pct', 'from', 'to', 'ids', 'format'] as const
export type QueryName = (typeof QUERY_NAMES)[number]

/** Strategy ids as they stand in paths, queries and column names. */
export const ID_PATTERN = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** Decimals with an optional exponent: `0.02`, `2e-2`. No hex, no plus, no bare dot. */
const NUMBER_PATTERN = /^-?\d+(\.\d+)?([eE]-?\d+)?$/

/** Values longer than this are cut in error details: an answer must not be a megaphone for its request. */
const ECHO_LENGTH = 80

export type Refusal = { readonly problem: Omit<ParameterProblem, 'param'> }

export type Outcome<T> = { readonly value: T } | Refusal

export type Parser<T> = (texts: readonly string[]) => Outcome<T>

export const refuse = (texts: readonly string[], reason: string, allowed?: readonly string[]): Refusal => ({
  problem: { value: echo(texts.join(',')), reason, ...(allowed ? { allowed } : {}) },
})

const echo = (text: string): string => (text.length > ECHO_LENGTH ? `${text.slice(0, ECHO_LENGTH)}...` : text)

export const once =
  <T>(parse: (text: string) => Outcome<T>): Parser<T> =>
  texts =>
    texts.length > 1 ? refuse(texts, 'given more than once') : parse(texts[0] ?? '')

export const oneOf = <T extends string>(allowed: readonly T[]): Parser<T> =>
  once(text => {
    const value = allowed.find(candidate => candidate === text)
    if (value !== undefined) return { value }
    const meant = question(nearestTo(text.toLowerCase(), allowed))
    return refuse([text], `must be one of ${allowed.join(', ')}${meant}`, allowed)
  })

const question = (meant: string | null): string => (meant === null ? '' : `; did you mean ${meant}?`)

/** A JSON Schema as our documents have it, with what they say of figures. */
export type JsonSchema = Readonly<Partial<Record<Limit, number>>> & {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | boolean
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly 'x-formula'?: string
  readonly 'x-null-when'?: readonly string[]
  readonly 'x-convention'?: string
}

type Limit = 'minimum' | 'exclusiveMinimum' | 'maximum' | 'minLength' | 'maxLength' | 'minItems' | 'maxItems'

export type Schema = Readonly<Record<string, unknown>>

/** A parameter of a query: what it is, how it is read, and how its canonical text is printed. */
export type Parameter<Value> = {
  readonly about: string
  readonly schema: JsonSchema
  /** How a list is written, in the words of OpenAPI. */
  readonly style?: Schema
  /** It is looked up: a text that names nothing is answered with not_found, never with a validation error. */
  readonly isLookedUp?: true
  /** Its value if it is not given, which the canonical text leaves out. */
  readonly initial: Value
  parse(texts: readonly string[]): Outcome<Value>
  print(value: NonNullable<Value>): string
}

export type ValuesOf<Parameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends Parameter<infer Value> ? Value : never
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>

/** One word of a list; the first one if it is not given. */
export const wordParameter = <const Word extends string>(
  about: string,
  words: readonly [Word, ...Word[]],
): Parameter<Word> => ({
  about,
  schema: { type: 'string', enum: words, default: words[0] },
  initial: words[0],
  parse: oneOf(words),
  print: String,
})

/** A whole number with a default, or one that may be absent (null). */
export const wholeNumberParameter = <Initial extends number | null>(
  about: string,
  least: number,
  most: number,
  initial: Initial,
): Parameter<number | Initial> => ({
  about,
  schema: {
    type: 'integer',
    minimum: least,
    maximum: most,
    ...(initial === null ? {} : { default: initial }),
  },
  initial,
  parse: once(text => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most
      ? { value }
      : refuse([text], `must be a whole number from ${least} to ${most}`)
  }),
  print: String,
})

/** Names that a route takes or refuses although they are none of its parameters. */
export type Others = {
  /** What is read before the parameters. */
  readonly taken: readonly string[]
  /** Parameters of other routes: refused if their value asks for something, because this route would not do it. */
  readonly refused: Parameters
}

const NO_OTHERS: Others = { taken: [], refused: {} }

/**
 * Reads a query. Names that resemble no known one are ignored; one that nearly is a known one is refused, because the
 * answer would not be the one that was wanted. Throws a `validation_error` that lists every problem at once.
 */
export function parseQuery<P extends Parameters>(
  parameters: P,
  query: URLSearchParams,
  others: Others = NO_OTHERS,
): ValuesOf<P> {
  const { values, problems } = readQuery(parameters, query, others)
  if (problems.length > 0) throw unfitQuery(problems)
  return values
}

/** The same, for those that look for more problems before they refuse: what is refused has its initial value. */
export function readQuery<P extends Parameters>(
  parameters: P,
  query: URLSearchParams,
  others: Others = NO_OTHERS,
): { readonly values: ValuesOf<P>; readonly problems: readonly ParameterProblem[] } {
  const values: Record<string, unknown> = {}
  const problems: ParameterProblem[] = []
  for (const [param, { parse, initial }] of Object.entries(parameters)) {
    const outcome = query.has(param) ? parse(query.getAll(param)) : { value: initial }
    if ('problem' in outcome) problems.push({ param, ...outcome.problem })
    values[param] = 'value' in outcome ? outcome.value : initial
  }
  problems.push(...strayProblems(Object.keys(parameters), query, others))
  return { values: values as ValuesOf<P>, problems } // every name has its initial value or what its own parser returned
}

/** A refusal lists no more names that are not parameters: an address has room for thousands. */
const MOST_STRAYS = 8

/** What is wrong with the names that are no parameters, whatever their order: caches sort them. */
function strayProblems(
  parameters: readonly string[],
  query: URLSearchParams,
  { taken, refused }: Others,
): ParameterProblem[] {
  const own = [...parameters, ...taken]
  const known = [...own, ...Object.keys(refused)]
  const problems: ParameterProblem[] = []
  for (const param of [...new Set(query.keys())].sort()) {
    if (own.includes(param)) continue
    const other = Object.hasOwn(refused, param) ? refused[param]! : null
    const meant = other === null ? meantBy(param, known) : null
    if (other === null ? meant === null : asksNothing(other, query.getAll(param))) continue
    const reason =
      other === null
        ? `is unknown${question(meant)}`
        : `is no parameter of this route, which takes ${own.join(', ')}`
    problems.push({ param, ...refuse(query.getAll(param).sort(), reason).problem })
    if (problems.length === MOST_STRAYS) break
  }
  return problems
}

/** Whether the answer is the same without it: it is blank, or what is answered anyway. */
function asksNothing({ initial, parse }: Parameter<unknown>, texts: readonly string[]): boolean {
  const outcome = parse(texts)
  return texts.every(text => text.trim() === '') || ('value' in outcome && outcome.value === initial)
}

export function unfitQuery(details: readonly ParameterProblem[]): ApiError {
  const names = new Set(details.map(({ param }) => param))
  return new ApiError('validation_error', `invalid query parameters: ${[...names].join(', ')}`, { details })
}

/** The one spelling of a path and its query: sorted by name, initial values left out. */
export function canonicalUrl(
  path: string,
  parameters: Parameters,
  values: Readonly<Record<string, unknown>>,
): string {
  const query = Object.keys(parameters)
    .toSorted()
    .flatMap(name => {
      const { initial, print } = parameters[name]!
      const value = values[name]
      return value === initial || value === null || value === undefined ? [] : [`${name}=${print(value)}`]
    })
  return query.length === 0 ? path : `${path}?${query.join('&')}`
}

export function dayParameter(about: string): Parameter<EpochDay | null> {
  return {
    about,
    schema: { type: 'string', format: 'date' },
    initial: null,
    parse: once(text => {
      const value = parseIsoDate(text)
      return value === null ? refuse([text], 'must be a calendar date YYYY-MM-DD') : { value }
    }),
    print: toIsoDate,
  }
}

/**
 * Below it figures mean nothing, but a request for 1e-300 would make each number three hundred digits long.
 */
export const SMALLEST_RISK_PCT = 1e-9

const riskLevel: Parser<number> = once(text => {
  if (!NUMBER_PATTERN.test(text))
    return refuse([text], `must be a plain decimal number such as 0.02${question(numberMeantBy(text))}`)
  const value = Number(text)
  if (!Number.isFinite(value)) return refuse([text], 'must be a finite number')
  if (value <= 0) return refuse([text], 'must be greater than 0')
  return value >= SMALLEST_RISK_PCT
    ? { value }
    : refuse([text], `must be at least ${toText(SMALLEST_RISK_PCT)}`)
})

/** The number that `1,5`, `.5` or `1 %` means; null if it is not that clear. */
function numberMeantBy(text: string): string | null {
  const [, digits = '', percent] = /^\s*\+?(\d{0,9}[.,]?\d{1,9})\s*(%?)\s*$/.exec(text) ?? []
  const value = Number(digits.replace(',', '.')) / (percent === '%' ? 100 : 1)
  return value > 0 ? toText(Number(value.toPrecision(10))) : null
}

/** Comma-separated and repeated keys mean the same; order is kept, repetitions are dropped. */
const idList: Parser<readonly string[]> = texts => {
  const ids = texts.flatMap(text => text.split(',')).map(id => id.trim())
  return ids.includes('')
    ? refuse(texts, 'must name strategies, without blanks')
    : { value: [...new Set(ids)] }
}

/** The parameters of the dataset routes; those of a route are in its definition. */
export const PARAMETERS: { readonly [Name in Exclude<QueryName, 'format'>]: Parameter<Params[Name]> } = {
  period: wordParameter('Period of the returns; weeks are complete ISO weeks.', PERIODS),
  risk_pct: {
    about:
      'Modelled risk per trade as a fraction of equity: `0.02` = 2 %. Every base return is multiplied by ' +
      '`risk_pct / base_risk_pct`. Values above `max_modelled_risk_pct` are lowered to it, and `meta` says so. ' +
      'A level at which a figure would pass what a number can hold is refused.',
    // Any number is taken: above the cap of the dataset it is lowered to the cap.
    schema: { type: 'number', minimum: SMALLEST_RISK_PCT, maximum: Number.MAX_VALUE },
    initial: null,
    parse: riskLevel,
    print: toText,
  },
  from: dayParameter('First day, inclusive.'),
  to: dayParameter('Last day, inclusive.'),
  ids: {
    about: 'Strategies of the matrix, in the order wanted: separated by commas, or as repeated keys.',
    schema: { type: 'array', items: { type: 'string', pattern: ID_PATTERN.source }, minItems: 1 },
    style: { style: 'form', explode: false },
    initial: null,
    parse: idList,
    print: ids => ids.join(','),
  },
}

export type HistoryQuery = { readonly [Name in QueryName]?: Parameter<Params[Name]> }

export const pickParameters = (
  names: readonly QueryName[],
  formats: readonly [Format, ...Format[]],
): HistoryQuery & Parameters =>
  Object.fromEntries(
    names.map(name => [name, name === 'format' ? formatParameter(formats) : PARAMETERS[name]]),
  )

export const formatParameter = (formats: readonly [Format, ...Format[]]): Parameter<Format> =>
  wordParameter('Every format but `json` answers the rows alone, without the envelope.', formats)

/**
 * Reads the parameters of a dataset route; what is not given or not known keeps its default. Reports all problems at once, in the order of the parameters.
 */
export function parseParams(
  parameters: HistoryQuery & Parameters,
  query: URLSearchParams,
  others: Others = NO_OTHERS,
): { readonly params: Params; readonly problems: readonly ParameterProblem[] } {
  const { values, problems } = readQuery(parameters, query, others)
  const params: Params = { ...DEFAULT_PARAMS, ...values }
  return { params, problems: [...problems, ...rangeProblems(params)] }
}

function rangeProblems({ from, to }: Params): ParameterProblem[] {
  if (from === null || to === null || from <= to) return []
  return [{ param: 'from', value: toIsoDate(from), reason: `must not be later than to (${toIsoDate(to)})` }]
}
