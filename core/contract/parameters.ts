// The query parameters: what each accepts, and the one canonical text of what was accepted.
import { type EpochDay, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import type { Period } from '#core/figures/series.ts'
import { toText } from './decimal.ts'
import type { ParameterProblem } from './errors.ts'

export const PERIODS = ['daily', 'weekly'] as const satisfies readonly Period[]
export const FORMATS = ['json', 'csv', 'arrow', 'parquet'] as const
export type Format = (typeof FORMATS)[number]

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

export type QueryName = Exclude<keyof Params, 'sid'>

/** Strategy ids as they stand in paths, queries and column names. */
export const ID_PATTERN = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** Decimals with an optional exponent: `0.02`, `2e-2`. No hex, no plus, no bare dot. */
const NUMBER_PATTERN = /^-?\d+(\.\d+)?([eE]-?\d+)?$/

/** Values longer than this are cut in error details: an answer must not be a megaphone for its request. */
const ECHO_LENGTH = 80

export type Refusal = { readonly problem: Omit<ParameterProblem, 'param'> }

export type Outcome<T> = { readonly value: T } | Refusal

export type Parser<T> = (texts: readonly string[]) => Outcome<T>

/** What is said of texts that cannot be taken. */
export const refuse = (texts: readonly string[], reason: string, allowed?: readonly string[]): Refusal => ({
  problem: { value: echo(texts.join(',')), reason, ...(allowed ? { allowed } : {}) },
})

const echo = (text: string): string => (text.length > ECHO_LENGTH ? `${text.slice(0, ECHO_LENGTH)}...` : text)

/** A parameter that may be given once. */
export const once =
  <T>(parse: (text: string) => Outcome<T>): Parser<T> =>
  texts =>
    texts.length > 1 ? refuse(texts, 'given more than once') : parse(texts[0] ?? '')

/** One word of a list. */
export const oneOf = <T extends string>(allowed: readonly T[]): Parser<T> =>
  once(text => {
    const value = allowed.find(candidate => candidate === text)
    return value === undefined ? refuse([text], `must be one of ${allowed.join(', ')}`, allowed) : { value }
  })

const isoDate: Parser<EpochDay> = once(text => {
  const value = parseIsoDate(text)
  return value === null ? refuse([text], 'must be a calendar date YYYY-MM-DD') : { value }
})

/**
 * Below it every figure is nothing to anybody, but a legal request for 1e-300 would make each number three hundred
 * digits long.
 */
export const SMALLEST_RISK_PCT = 1e-9

const riskLevel: Parser<number> = once(text => {
  if (!NUMBER_PATTERN.test(text)) return refuse([text], 'must be a plain decimal number such as 0.02')
  const value = Number(text)
  if (!Number.isFinite(value)) return refuse([text], 'must be a finite number')
  if (value <= 0) return refuse([text], 'must be greater than 0')
  return value >= SMALLEST_RISK_PCT
    ? { value }
    : refuse([text], `must be at least ${toText(SMALLEST_RISK_PCT)}`)
})

/** Comma-separated and repeated keys mean the same; order is kept, repetitions are dropped. */
const idList: Parser<readonly string[]> = texts => {
  const ids = texts.flatMap(text => text.split(',')).map(id => id.trim())
  return ids.includes('')
    ? refuse(texts, 'must name strategies, without blanks')
    : { value: [...new Set(ids)] }
}

const PARSERS: { readonly [Name in QueryName]: Parser<Exclude<Params[Name], null>> } = {
  period: oneOf(PERIODS),
  risk_pct: riskLevel,
  from: isoDate,
  to: isoDate,
  ids: idList,
  format: oneOf(FORMATS),
}

/** The canonical text of each parameter, or null where it equals its default and is left out. */
const PRINTERS: { readonly [Name in QueryName]: (value: Params[Name]) => string | null } = {
  period: value => (value === DEFAULT_PARAMS.period ? null : value),
  risk_pct: value => (value === null ? null : toText(value)),
  from: value => (value === null ? null : toIsoDate(value)),
  to: value => (value === null ? null : toIsoDate(value)),
  ids: value => (value === null ? null : value.join(',')),
  format: value => (value === DEFAULT_PARAMS.format ? null : value),
}

/**
 * Reads the parameters that a route knows; others are ignored. Reports all problems at once, in the order of
 * `names`.
 */
export function parseParams(
  names: readonly QueryName[],
  formats: readonly Format[],
  query: URLSearchParams,
): { params: Params; problems: readonly ParameterProblem[] } {
  const params: Record<string, unknown> = { ...DEFAULT_PARAMS }
  const problems: ParameterProblem[] = []
  for (const name of names) {
    if (!query.has(name)) continue
    const outcome = name === 'format' ? oneOf(formats)(query.getAll(name)) : PARSERS[name](query.getAll(name))
    if ('problem' in outcome) problems.push({ param: name, ...outcome.problem })
    else params[name] = outcome.value
  }
  const parsed = params as Params // every key holds its default or what its own parser returned
  return { params: parsed, problems: [...problems, ...rangeProblems(parsed)] }
}

function rangeProblems({ from, to }: Params): ParameterProblem[] {
  if (from === null || to === null || from <= to) return []
  return [{ param: 'from', value: toIsoDate(from), reason: `must not be later than to (${toIsoDate(to)})` }]
}

/** The canonical query of parsed parameters: sorted by name, defaults left out, without the question mark. */
export function canonicalQuery(names: readonly QueryName[], params: Params): string {
  return names
    .map(name => ({ name, text: printParam(name, params) }))
    .filter(({ text }) => text !== null)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, text }) => `${name}=${text}`)
    .join('&')
}

const printParam = <Name extends QueryName>(name: Name, params: Params): string | null =>
  PRINTERS[name](params[name])
