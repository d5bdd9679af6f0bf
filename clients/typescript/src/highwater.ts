// The history: a book, pinned to one version.
import type * as Wire from './generated/history.ts'
import { type CallOptions, type ClientOptions, createRead, type Read } from './requests.ts'

/** Which version to open: one by its instant, the one that was served at the end of a UTC day, or else the newest. */
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
   * Throws `not_found` for a version that was never published, and `gone` for one that was removed.
   */
  async open(base: string, options: OpenOptions = {}): Promise<Highwater> {
    const read = createRead(base, options)
    return bookAt(await versionOf(read, options), read)
  },
}

function bookAt(version: string, read: Read) {
  const ask: Ask = (path, query, options) => read(pinned(version, path) + textOf(query), options)
  return {
    /** The version, a UTC instant: `2026-07-01T00:15:00Z`. Open it again to get the same numbers. */
    version,
    /** The version that the service serves now. It may be 10 s old. */
    newestVersion: (options?: CallOptions) => newestVersion(read, options),
    /** The catalogue, with five headline figures of each strategy. */
    strategies: (options?: CallOptions) => ask<Wire.StrategiesAnswer>('strategies', {}, options),
    /** One strategy. No request is made before one of its functions is called. */
    strategy: (id: string) => strategyOf(id, ask),
    /** The whole book: coverage, the equal-weight book, diversification. */
    summary: (options?: CallOptions) => ask<Wire.SummaryAnswer>('summary', {}, options),
    /** What the dataset is made of. */
    dataset: (options?: CallOptions) => ask<Wire.DatasetAnswer>('dataset', {}, options),
    /** Correlations of base-risk returns, of all strategies or of `ids`. */
    correlation: (query?: Wire.CorrelationQuery, options?: CallOptions) =>
      ask<Wire.CorrelationAnswer>('correlation', query, options),
    /** The returns of all strategies side by side, with their correlation. */
    export: (query?: Wire.ExportQuery, options?: CallOptions) =>
      ask<Wire.ExportAnswer>('export', query, options),
    /** Daily returns of holding each instrument. */
    benchmark: (options?: CallOptions) => ask<Wire.BenchmarkAnswer>('benchmark', {}, options),
  }
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
  }
}

/** Reads a path of the version, with the parameters that are given. */
type Ask = <Answer>(path: string, query?: object, options?: CallOptions) => Promise<Answer>

/** An address of a version, which takes its instant without punctuation. */
const pinned = (version: string, path: string): string =>
  `/v1/snapshots/${encodeURIComponent(version.replaceAll(/[-:]/g, ''))}/${path}`

/** `?from=2025-01-01&risk_pct=0.01`: sorted, so that equal questions have one address. */
function textOf(query: object = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value))
  parameters.sort()
  return parameters.size === 0 ? '' : `?${parameters}`
}

async function versionOf(read: Read, { version, asOf, ...options }: OpenOptions): Promise<string> {
  if (version === undefined && asOf === undefined) return newestVersion(read, options)
  const onDay = `/v1/dataset/versions?as_of=${encodeURIComponent(asOf ?? '')}` // redirects to the dataset of the day
  const { data } = await read<Wire.DatasetAnswer>(version ? pinned(version, 'dataset') : onDay, options)
  return data.version
}

/** A service without a dataset refuses the second request with `not_ready`. */
async function newestVersion(read: Read, options?: CallOptions): Promise<string> {
  const { data } = await read<Wire.VersionAnswer>('/version', options)
  return data.dataset_version ?? (await read<Wire.DatasetAnswer>('/v1/dataset', options)).data.version
}

const withColumns = <Row extends { readonly t: string }, Answer extends { readonly data: readonly Row[] }>(
  answer: Answer,
  valueIn: (row: Answer['data'][number]) => number,
): Answer & Columns => ({
  ...answer,
  t: Float64Array.from(answer.data, ({ t }) => Date.parse(t)),
  values: Float64Array.from(answer.data, valueIn),
})
