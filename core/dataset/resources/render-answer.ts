import { toCompactInstant, toIsoDate } from '#core/calendar.ts'
import { MEDIA_TYPES } from '#core/contract/artifacts.ts'
import { toText } from '#core/contract/decimal.ts'
import type { Format, Params } from '#core/contract/parameters.ts'
import type { Basis } from '#core/contract/payloads/strategy.ts'
import { register } from '#core/contract/register.ts'
import { effectiveInstant } from '../entered.ts'
import { renderArrow, renderParquet } from '../render/columnar.ts'
import { csvWriting } from '../render/csv.ts'
import { type Json, jsonWriting } from '../render/json.ts'
import type { Table } from '../render/table.ts'
import { BLOCK_BYTES, type Writing, writeBlocks, writeWhole } from '../render/text-writer.ts'
import { basisOf, type Snapshot, strategyOf } from '../snapshot.ts'
import type { Answer, ResourceId } from './resource.ts'
import { linksOf, routeOf } from './routes.ts'

type Headed = { readonly headers: Readonly<Record<string, string>>; readonly answer: Answer }

/**
 * Evaluates a resource and renders it: the only function that makes the bytes of a dataset answer, for the
 * static build and the tier.
 */
export function renderAnswer(id: ResourceId, snapshot: Snapshot, params: Params) {
  const { body, ...headed } = prepareAnswer(id, snapshot, params)
  return { bytes: typeof body === 'function' ? writeWhole(body) : body.make(), ...headed }
}

/**
 * The same bytes one block after the other, so that an answer of any size takes the time and the memory of a
 * block. A binary format cannot be made in parts and is one block. Invalid requests are refused here; a
 * number that must not be published, at its block.
 */
export function renderBlocks(
  id: ResourceId,
  snapshot: Snapshot,
  params: Params,
  blockBytes: number = BLOCK_BYTES,
): Headed & { readonly blocks: Iterable<Uint8Array<ArrayBuffer>> } {
  const { body, ...headed } = prepareAnswer(id, snapshot, params)
  return { blocks: typeof body === 'function' ? writeBlocks(body, blockBytes) : oneBlock(body), ...headed }
}

function* oneBlock({ make }: Whole): Generator<Uint8Array<ArrayBuffer>> {
  yield make()
}

/** A body that is made at once or not at all. */
type Whole = { readonly make: () => Uint8Array<ArrayBuffer> }

type Prepared = Headed & { readonly body: Writing | Whole }

/** Evaluates a resource; its bytes are still to be made. */
function prepareAnswer(id: ResourceId, snapshot: Snapshot, params: Params): Prepared {
  const answer = routeOf(id).handler(snapshot, params)
  const { format } = params
  return format === 'json'
    ? jsonAnswer(id, snapshot, params, answer)
    : tableAnswer(id, snapshot, params, answer, format)
}

/** `{data, meta, links}` with the register of a dataset: the same bytes for all clients, without a time. */
function jsonAnswer(id: ResourceId, snapshot: Snapshot, params: Params, answer: Answer): Prepared {
  const { dataset } = snapshot
  const basis = basisOfAnswer(snapshot, params)
  const meta = { ...register(dataset, effectiveInstant(dataset), null), basis, ...answer.meta }
  const envelope: Json = {
    data: answer.data ?? answer.table ?? null,
    meta,
    links: linksOf(routeOf(id), params),
  }
  return { body: jsonWriting(envelope), headers: { 'content-type': MEDIA_TYPES.json }, answer }
}

function basisOfAnswer(snapshot: Snapshot, { sid, ids }: Params): Basis {
  const one = sid === '' ? null : strategyOf(snapshot, sid)
  if (one !== null) return basisOf(one)
  const shown = snapshot.strategies.filter(({ id }) => ids?.includes(id) ?? true)
  const [basis = 'backtested', ...others] = new Set(shown.map(basisOf))
  return others.length === 0 ? basis : 'mixed'
}

type TableFormat = Exclude<Format, 'json'>

/** Metadata in a file, which outlives the headers that it came with; CSV has no place for it. */
type About = Readonly<Record<string, string>>

const TABLE_BODY: { readonly [F in TableFormat]: (table: Table, about: About) => Writing | Whole } = {
  csv: csvWriting,
  arrow: (table, about) => ({ make: () => renderArrow(table, about) }),
  parquet: (table, about) => ({ make: () => renderParquet(table, about) }),
}

/** The rows have no envelope; the fields of `meta` go into headers. */
function tableAnswer(
  id: ResourceId,
  { dataset }: Snapshot,
  params: Params,
  answer: Answer,
  format: TableFormat,
): Prepared {
  if (answer.table === undefined) throw new Error(`the resource '${id}' has no table to render as ${format}`)
  const { version, disclaimer } = dataset
  const facts = riskFacts(answer)
  const riskHeaders = Object.entries(facts).map(([name, value]) => [`x-${name.replaceAll('_', '-')}`, value])
  return {
    body: TABLE_BODY[format](answer.table, { dataset_version: version, disclaimer, ...facts }),
    headers: {
      'content-type': MEDIA_TYPES[format],
      'content-disposition': `attachment; filename="${fileName(id, version, params, answer)}"`,
      'x-dataset-version': version,
      'x-disclaimer': toHeaderText(disclaimer),
      ...Object.fromEntries(riskHeaders),
    },
    answer,
  }
}

/** `alder-returns-daily-risk-0.05-20261121T001500Z.csv`: identifies the file in a downloads folder. */
function fileName(
  id: ResourceId,
  version: string,
  { sid, risk_pct, from, to, format }: Params,
  { meta }: Answer,
): string {
  const risk = risk_pct === null || meta.risk_pct === undefined ? [] : ['risk', toText(meta.risk_pct)]
  const isRanged = 'from' in routeOf(id).query
  const range = [
    ...(from === null || !isRanged ? [] : ['from', toIsoDate(from)]),
    ...(to === null || !isRanged ? [] : ['to', toIsoDate(to)]),
  ]
  const parts = [sid || 'all', id, ...(meta.period === undefined ? [] : [meta.period]), ...range, ...risk]
  return `${parts.join('-')}-${toCompactInstant(version)}.${format}`
}

/** Tables have them as headers, too: `x-risk-pct-effective` and `x-risk-pct-clamped`. */
function riskFacts({ meta }: Answer): Record<string, string> {
  if (meta.effective_risk_pct === undefined) return {}
  return {
    risk_pct_effective: toText(meta.effective_risk_pct),
    risk_pct_clamped: String(meta.risk_pct_clamped ?? false),
  }
}

/** Header values are ASCII on one line; an operator's disclaimer may be neither. */
const toHeaderText = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .trim()

/**
 * Raised whenever the same answer is rendered to other bytes. Computed answers carry it in their ETag, so
 * that a cache never holds a body of one revision against a validator of another.
 */
export const RENDER_REVISION = 9
