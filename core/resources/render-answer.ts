import { toCompactInstant } from '#core/calendar.ts'
import { MEDIA_TYPES } from '#core/contract/artifacts.ts'
import { toText } from '#core/contract/decimal.ts'
import type { Format, Params } from '#core/contract/parameters.ts'
import { register } from '#core/contract/register.ts'
import { renderArrow } from '#core/render/arrow.ts'
import { renderCsv } from '#core/render/csv.ts'
import { type Json, renderJson } from '#core/render/json.ts'
import { renderParquet } from '#core/render/parquet.ts'
import type { Table } from '#core/render/table.ts'
import type { Snapshot } from '#core/snapshot/snapshot.ts'
import type { Answer } from './answer.ts'
import { RESOURCES, type ResourceId } from './resources.ts'

/** The bytes of an answer, and the headers that are part of it. */
export type RenderedAnswer = {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
  readonly answer: Answer
}

/**
 * Evaluates a resource and renders it: the one way to the bytes of a dataset answer, for the static build and the
 * thin tier alike.
 */
export function renderAnswer(id: ResourceId, snapshot: Snapshot, params: Params): RenderedAnswer {
  const answer = RESOURCES[id](snapshot, params)
  const { format } = params
  return format === 'json' ? jsonAnswer(snapshot, answer) : tableAnswer(id, snapshot, params, answer, format)
}

/** `{data, meta, links}` with the register of a dataset: the same bytes for everyone, so no clock in them. */
function jsonAnswer({ dataset }: Snapshot, answer: Answer): RenderedAnswer {
  const meta = { ...register(dataset, dataset.version, null), ...answer.meta }
  const envelope: Json = { data: answer.data, meta, links: answer.links }
  return { bytes: renderJson(envelope), headers: { 'content-type': MEDIA_TYPES.json }, answer }
}

type TableFormat = Exclude<Format, 'json'>

/** What a file must tell by itself, once it has left the headers that it came with; CSV has no place for it. */
type About = Readonly<Record<string, string>>

const RENDER_TABLE: { readonly [F in TableFormat]: (table: Table, about: About) => Uint8Array<ArrayBuffer> } =
  {
    csv: renderCsv,
    arrow: renderArrow,
    parquet: renderParquet,
  }

/** The rows alone have no envelope; what the register would say goes into headers. */
function tableAnswer(
  id: ResourceId,
  { dataset }: Snapshot,
  params: Params,
  answer: Answer,
  format: TableFormat,
): RenderedAnswer {
  if (answer.table === undefined) throw new Error(`the resource '${id}' has no table to render as ${format}`)
  const { version, disclaimer } = dataset
  return {
    bytes: RENDER_TABLE[format](answer.table, { dataset_version: version, disclaimer, ...riskFacts(answer) }),
    headers: {
      'content-type': MEDIA_TYPES[format],
      'content-disposition': `attachment; filename="${fileName(id, version, params, answer)}"`,
      'x-dataset-version': version,
      'x-disclaimer': toHeaderText(disclaimer),
      ...riskHeaders(answer),
    },
    answer,
  }
}

/** `alder-returns-daily-risk-0.05-20261121T001500Z.csv`: a name that still tells what it is in a downloads folder. */
function fileName(
  id: ResourceId,
  version: string,
  { sid, risk_pct, format }: Params,
  { meta }: Answer,
): string {
  const risk = risk_pct === null || meta.risk_pct === undefined ? [] : ['risk', toText(meta.risk_pct)]
  const parts = [sid || 'all', id, ...(meta.period === undefined ? [] : [meta.period]), ...risk]
  return `${parts.join('-')}-${toCompactInstant(version)}.${format}`
}

function riskFacts({ meta }: Answer): Record<string, string> {
  if (meta.effective_risk_pct === undefined) return {}
  return {
    risk_pct_effective: toText(meta.effective_risk_pct),
    risk_pct_clamped: String(meta.risk_pct_clamped ?? false),
  }
}

/** `x-risk-pct-effective` and `x-risk-pct-clamped`. */
const riskHeaders = (answer: Answer): Record<string, string> =>
  Object.fromEntries(
    Object.entries(riskFacts(answer)).map(([name, value]) => [`x-${name.replaceAll('_', '-')}`, value]),
  )

/** Header values are ASCII on one line; an operator's disclaimer may be neither. */
const toHeaderText = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .trim()
