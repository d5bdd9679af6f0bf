import { toCompactInstant } from '#core/calendar.ts'
import { MEDIA_TYPES } from '#core/contract/artifacts.ts'
import { toText } from '#core/contract/decimal.ts'
import type { Params } from '#core/contract/parameters.ts'
import { register } from '#core/contract/register.ts'
import { renderCsv } from '#core/render/csv.ts'
import { type Json, renderJson } from '#core/render/json.ts'
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
  return params.format === 'csv' ? csvAnswer(id, snapshot, params, answer) : jsonAnswer(snapshot, answer)
}

/** `{data, meta, links}` with the register of a dataset: the same bytes for everyone, so no clock in them. */
function jsonAnswer({ dataset }: Snapshot, answer: Answer): RenderedAnswer {
  const meta = { ...register(dataset, dataset.version, null), ...answer.meta }
  const envelope: Json = { data: answer.data, meta, links: answer.links }
  return { bytes: renderJson(envelope), headers: { 'content-type': MEDIA_TYPES.json }, answer }
}

/** CSV has no envelope; what the register would say goes into headers. */
function csvAnswer(id: ResourceId, { dataset }: Snapshot, params: Params, answer: Answer): RenderedAnswer {
  if (answer.table === undefined) throw new Error(`the resource '${id}' has no table to render as CSV`)
  return {
    bytes: renderCsv(answer.table),
    headers: {
      'content-type': MEDIA_TYPES.csv,
      'content-disposition': `attachment; filename="${fileName(id, dataset.version, params, answer)}"`,
      'x-dataset-version': dataset.version,
      'x-disclaimer': toHeaderText(dataset.disclaimer),
      ...riskHeaders(answer),
    },
    answer,
  }
}

/** `alder-returns-daily-risk-0.05-20261121T001500Z.csv`: a name that still tells what it is in a downloads folder. */
function fileName(id: ResourceId, version: string, { sid, risk_pct }: Params, { meta }: Answer): string {
  const risk = risk_pct === null || meta.risk_pct === undefined ? [] : ['risk', toText(meta.risk_pct)]
  const parts = [sid || 'all', id, ...(meta.period === undefined ? [] : [meta.period]), ...risk]
  return `${parts.join('-')}-${toCompactInstant(version)}.csv`
}

function riskHeaders({ meta }: Answer): Record<string, string> {
  if (meta.effective_risk_pct === undefined) return {}
  return {
    'x-risk-pct-effective': toText(meta.effective_risk_pct),
    'x-risk-pct-clamped': String(meta.risk_pct_clamped ?? false),
  }
}

/** Header values are ASCII on one line; an operator's disclaimer may be neither. */
const toHeaderText = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .trim()
