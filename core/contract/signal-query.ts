// What the pull of signals and the account of deliveries accept in their queries.
import { ApiError, type ParameterProblem } from './errors.ts'
import { once, oneOf, type Parser, refuse } from './parameters.ts'

export const HISTORY_FORMATS = ['json', 'csv'] as const

export type HistoryFormat = (typeof HISTORY_FORMATS)[number]

/** A page holds no more than this; who wants everything gives no limit. */
export const MOST_PER_PAGE = 10_000

export type HistoryQuery = {
  /** Signals after this number. */
  readonly since: number
  /** Null for all of them. */
  readonly limit: number | null
  readonly format: HistoryFormat
}

const DEFAULTS: HistoryQuery = { since: 0, limit: null, format: 'json' }

export const wholeNumber = (least: number, most: number): Parser<number> =>
  once(text => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most
      ? { value }
      : refuse([text], `must be a whole number from ${least} to ${most}`)
  })

const PARSERS: { readonly [Name in keyof HistoryQuery]: Parser<NonNullable<HistoryQuery[Name]>> } = {
  since: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  limit: wholeNumber(1, MOST_PER_PAGE),
  format: oneOf(HISTORY_FORMATS),
}

/** Reads the query of a pull. Throws as `parseQuery` does. */
export const parseHistoryQuery = (query: URLSearchParams): HistoryQuery =>
  parseQuery(query, DEFAULTS, PARSERS)

/** Numbers that one account may span: a second of reading, and a list that can be read. */
export const MOST_ACCOUNTED = 10_000

/** Numbers that an account spans, both included; null where the service chooses. */
export type AccountQuery = { readonly from: number | null; readonly to: number | null }

const seq = wholeNumber(1, Number.MAX_SAFE_INTEGER)

/** Reads the query of an account. Throws as `parseQuery` does. */
export const parseAccountQuery = (query: URLSearchParams): AccountQuery =>
  parseQuery<AccountQuery>(query, { from: null, to: null }, { from: seq, to: seq })

export const ACCOUNT_PATH = '/v1/signals/account'

/** The one path and query of an account: sorted by name, what was left to the service left out. */
export function accountPath({ from, to }: AccountQuery): string {
  const query = [...(from === null ? [] : [`from=${from}`]), ...(to === null ? [] : [`to=${to}`])]
  return query.length === 0 ? ACCOUNT_PATH : `${ACCOUNT_PATH}?${query.join('&')}`
}

/** Reads a query; unknown keys are ignored. Throws a `validation_error` that lists every problem at once. */
export function parseQuery<Query extends Readonly<Record<string, unknown>>>(
  query: URLSearchParams,
  defaults: Query,
  parsers: { readonly [Name in keyof Query]: Parser<NonNullable<Query[Name]>> },
): Query {
  const parsed: Record<string, unknown> = { ...defaults }
  const problems: ParameterProblem[] = []
  for (const [param, parse] of Object.entries<Parser<unknown>>(parsers)) {
    if (!query.has(param)) continue
    const outcome = parse(query.getAll(param))
    if ('problem' in outcome) problems.push({ param, ...outcome.problem })
    else parsed[param] = outcome.value
  }
  if (problems.length === 0) return parsed as Query // every key holds its default or what its own parser returned
  const names = problems.map(({ param }) => param).join(', ')
  throw new ApiError('validation_error', `unfit query parameters: ${names}`, { details: problems })
}

/** The one path and query of a pull: sorted by name, defaults left out. */
export function historyPath({ since, limit, format }: HistoryQuery): string {
  const query = [
    ...(format === DEFAULTS.format ? [] : [`format=${format}`]),
    ...(limit === null ? [] : [`limit=${limit}`]),
    ...(since === DEFAULTS.since ? [] : [`since=${since}`]),
  ]
  return query.length === 0 ? HISTORY_PATH : `${HISTORY_PATH}?${query.join('&')}`
}

export const HISTORY_PATH = '/v1/signals/history'
