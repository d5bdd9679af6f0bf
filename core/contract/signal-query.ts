// What the pull of signals accepts in its query.
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

const wholeNumber = (least: number, most: number): Parser<number> =>
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

/** Reads the query of a pull; unknown keys are ignored. Throws a `validation_error` that lists every problem at once. */
export function parseHistoryQuery(query: URLSearchParams): HistoryQuery {
  const parsed: Record<string, unknown> = { ...DEFAULTS }
  const problems: ParameterProblem[] = []
  for (const [param, parse] of Object.entries(PARSERS)) {
    if (!query.has(param)) continue
    const outcome = parse(query.getAll(param))
    if ('problem' in outcome) problems.push({ param, ...outcome.problem })
    else parsed[param] = outcome.value
  }
  if (problems.length === 0) return parsed as HistoryQuery // every key holds its default or what its own parser returned
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
