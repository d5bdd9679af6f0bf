// The history: a book, pinned to one version.
import type * as Wire from './generated/history.ts'
import { HighwaterError } from './highwater-error.ts'
import { type CallOptions, type ClientOptions, createTransport, queryOf, type Transport } from './requests.ts'
import { audit, type VerifyBookOptions } from './verify.ts'

/** Which version to open: one by its instant, as `2026-07-01T00:15:00Z` or `20260701T001500Z`, the one that was served at the end of a UTC day, or else the newest. */
export type OpenOptions = ClientOptions &
  CallOptions &
  (
    | { readonly version?: string; readonly asOf?: never }
    | { readonly asOf?: string; readonly version?: never }
  )

/** The rows of an answer as columns of equal length. */
export type Columns = {
  /** UTC days, epoch milliseconds. */
  readonly t: Float64Array
  /** The returns as fractions, or the equity as a multiple. */
  readonly values: Float64Array
}

/** A book at one version. Its functions throw `HighwaterError` if the service refuses them. */
export type Highwater = ReturnType<typeof bookAt>

export const Highwater = {
  /**
   * Opens a version of the book that is served at `base`: everything is answered from it, whatever is published later.
   * Throws `not_found` for a version that was never published, `gone` for one that was removed, and `wrong_service` at the
   * address of a signals service.
   */
  async open(base: string, options: OpenOptions = {}): Promise<Highwater> {
    const transport = createTransport(base, options, 'history')
    return bookAt(await versionOf(transport, options), transport)
  },
}

function bookAt(version: string, transport: Transport) {
  const { read } = transport
  const ask: Ask = (path, query, options) => read(pinned(version, path) + queryOf(query), options)
  return {
    /** The version, a UTC instant: `2026-07-01T00:15:00Z`. Open it again to get the same numbers. */
    version,
    /** The version that the service serves now. It may be 10 s old. */
    newestVersion: (options?: CallOptions) => newestVersion(transport, options),
    /** The catalogue, with five headline figures of each strategy. */
    strategies: (options?: CallOptions) => ask<Wire.StrategiesAnswer>('strategies', {}, options),
    /** One strategy. No request is made before one of its functions is called. */
    strategy: (id: string) => strategyOf(id, ask),
    /** The whole book: coverage, the equal-weight book, diversification. */
    summary: (options?: CallOptions) => ask<Wire.SummaryAnswer>('summary', {}, options),
    /** What the dataset is made of. */
    dataset: (options?: CallOptions) => ask<Wire.DatasetAnswer>('dataset', {}, options),
    /** Correlations of base-risk returns, of all strategies or of `ids`. */
    correlation: (query?: OfSome<Wire.CorrelationQuery>, options?: CallOptions) =>
      ask<Wire.CorrelationAnswer>('correlation', query, options),
    /** The returns of all strategies, or of `ids`, side by side, with their correlation. */
    export: (query?: OfSome<Wire.ExportQuery>, options?: CallOptions) => exportOf(ask, query, options),
    /** Daily returns of holding each instrument. */
    benchmark: (options?: CallOptions) => ask<Wire.BenchmarkAnswer>('benchmark', {}, options),
    /** Checks the log of versions, the signatures and every file, and says what. Throws `not_verified` with all faults. */
    verify: (options: VerifyBookOptions = {}) => audit(transport, version, pinned(version, ''), options),
  }
}

/** A query whose `ids` are a list, or one text with commas. */
type OfSome<Query> = Omit<Query, 'ids'> & { ids?: string | readonly string[] }

/** The service exports all strategies; which of them `ids` names, and in which order, it says with their correlation. */
async function exportOf(ask: Ask, { ids, ...query }: OfSome<Wire.ExportQuery> = {}, options?: CallOptions) {
  const answer = await ask<Wire.ExportAnswer>('export', query, options)
  if (ids === undefined) return answer
  const { data } = await ask<Wire.CorrelationAnswer>('correlation', { ids, period: query.period }, options)
  const chosen = new Set(data.ids)
  const rows = answer.data.rows.map(({ t, rets }) => {
    return { t, rets: Object.fromEntries(Object.entries(rets).filter(([id]) => chosen.has(id))) }
  })
  return { ...answer, data: { ids: data.ids, rows, correlation: data } }
}

/** A strategy of a book. An id that the version does not have is refused with `not_found`. */
export type StrategyHistory = ReturnType<typeof strategyOf>

function strategyOf(id: string, ask: Ask) {
  const path = `strategies/${encodeURIComponent(id)}`
  return {
    id,
    /** Instrument, costs, leverage and verification: everything but the figures. */
    meta: (options?: CallOptions) => ask<Wire.StrategyAnswer>(path, {}, options),
    /** The statistics at a risk level, and the due diligence block at base risk. */
    stats: (query?: Wire.StatsQuery, options?: CallOptions) =>
      ask<Wire.StatsAnswer>(`${path}/stats`, query, options),
    /** Daily or weekly returns, whole or a range of dates, at a risk level. */
    returns: async (query?: Wire.ReturnsQuery, options?: CallOptions) =>
      withColumns(await ask<Wire.ReturnsAnswer>(`${path}/returns`, query, options), ({ ret }) => ret),
    /** The equity curve at a risk level. */
    curve: async (query?: Wire.CurveQuery, options?: CallOptions) =>
      withColumns(await ask<Wire.CurveAnswer>(`${path}/curve`, query, options), ({ equity }) => equity),
    /** Return, volatility, Sharpe ratio and beta of every 365 consecutive days, at a risk level. */
    rolling: (query?: Wire.RollingQuery, options?: CallOptions) =>
      ask<Wire.RollingAnswer>(`${path}/rolling`, query, options),
    /** A year drawn from the record, results by start date, days, exposure and periods of stress, at a risk level. */
    risk: (query?: Wire.RiskQuery, options?: CallOptions) =>
      ask<Wire.RiskAnswer>(`${path}/risk`, query, options),
    /** The closed trades. */
    trades: (options?: CallOptions) => ask<Wire.TradesAnswer>(`${path}/trades`, {}, options),
    /** What was sealed while the strategy was live, beside the record, at a risk level. */
    live: (query?: Wire.LiveQuery, options?: CallOptions) =>
      ask<Wire.LiveAnswer>(`${path}/live`, query, options),
  }
}

/** Reads a path of the version, with the parameters that are given. */
type Ask = <Answer>(path: string, query?: object, options?: CallOptions) => Promise<Answer>

/** An address of a version, which takes its instant without punctuation. */
const pinned = (version: string, path: string): string =>
  `/v1/snapshots/${encodeURIComponent(version.replaceAll(/[-:]/g, ''))}/${path}`

async function versionOf(transport: Transport, { version, asOf, ...options }: OpenOptions): Promise<string> {
  if (version === undefined && asOf === undefined) return newestVersion(transport, options)
  const onDay = `/v1/dataset/versions?as_of=${encodeURIComponent(asOf ?? '')}` // redirects to the dataset of the day
  const at = version === undefined ? onDay : pinned(version, 'dataset')
  const { data } = await transport.read<Wire.DatasetAnswer>(at, options)
  return data.version
}

async function newestVersion({ read }: Transport, options?: CallOptions): Promise<string> {
  const { data } = await read<Wire.VersionAnswer>('/version', options)
  if (data.dataset_version !== null) return data.dataset_version
  throw new HighwaterError('not_published', 'the service has published no version yet')
}

const withColumns = <Row extends { readonly t: string }, Answer extends { readonly data: readonly Row[] }>(
  answer: Answer,
  valueIn: (row: Answer['data'][number]) => number,
): Answer & Columns => ({
  ...answer,
  t: Float64Array.from(answer.data, ({ t }) => Date.parse(t)),
  values: Float64Array.from(answer.data, valueIn),
})
