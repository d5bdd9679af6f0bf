import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { toIsoDate } from '#core/calendar.ts'
import { artifactKey, TWIN_ENDINGS, type TwinCoding } from '#core/contract/artifacts.ts'
import type { Effort } from '#core/contract/effort.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { type Format, isBinary, type Params } from '#core/contract/parameters.ts'
import { type RenderedAnswer, renderAnswer } from '#core/dataset/resources/render-answer.ts'
import type { ResourceId } from '#core/dataset/resources/resource.ts'
import { canonicalPath, routeOf } from '#core/dataset/resources/routes.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { sha256 } from '#storage/digest.ts'
import { immutableHeaders } from '#storage/immutable-headers.ts'
import type { ObjectHeaders } from '#storage/object-store.ts'

/** A canonical point: a resource and the parameters it is published at. */
export type Point = { readonly id: ResourceId; readonly params: Params }

/** The files of a canonical point, plain and twins, and its line of the manifest. */
export type RenderedPoint = ReturnType<typeof renderPoint>

/** Renders one canonical answer, and compresses it if it is text. */
export function renderPoint(snapshot: Snapshot, point: Point, effort: Effort) {
  const rendered = renderAnswer(point.id, snapshot, point.params)
  const key = artifactKey(snapshot.dataset.version, routeOf(point.id), point.params)
  const { 'content-type': mediaType = '', ...headers } = rendered.headers
  const { format } = point.params
  const twins = isBinary(format) ? [] : compressTwins(rendered.bytes, format, effort)
  const artifact: Artifact = {
    url: canonicalPath(point.id, point.params),
    key,
    media_type: mediaType,
    headers,
    ...describe(rendered.bytes),
    ...extentOf(rendered),
    encodings: Object.fromEntries(twins.map(({ coding, bytes }) => [coding, describe(bytes)])),
  }
  const files = [
    { key, bytes: rendered.bytes, headers: storedHeaders(mediaType) },
    ...twins.map(({ coding, bytes }) => ({
      key: `${key}${TWIN_ENDINGS[coding]}`,
      bytes,
      headers: storedHeaders(mediaType, coding),
    })),
  ]
  return { artifact, files }
}

const storedHeaders = (mediaType: string, coding?: TwinCoding): ObjectHeaders => ({
  ...immutableHeaders(mediaType),
  ...(coding === undefined ? {} : { content_encoding: coding }),
})

const describe = (bytes: Uint8Array) => ({ bytes: bytes.length, sha256: sha256(bytes) })

function extentOf({ answer: { table } }: RenderedAnswer): Pick<Artifact, 'rows' | 'first' | 'last'> {
  if (table === undefined) return { rows: null, first: null, last: null }
  const { extent } = table
  return {
    rows: table.rows,
    first: extent === undefined ? null : toIsoDate(extent.first),
    last: extent === undefined ? null : toIsoDate(extent.last),
  }
}

/**
 * On an export of 25 MB Brotli 11 would take minutes, so above this every file is made with the levels of
 * `LARGE`. Gzip 9 takes 4 % off such an export, and four times as long as gzip 6.
 */
const SMALL_BELOW_BYTES = 1 << 20

type Levels = { readonly br: number; readonly gzip: number }

const LARGE: Levels = { br: 5, gzip: 6 }
/** Saves a fifth of what pages request repeatedly, the JSON of one strategy; exports are downloaded once. */
const GOOD: Levels = { br: 10, gzip: 6 }
const PAGE_BELOW_BYTES = 1 << 18
/** Gzip 4 takes 40 % of the time of 6, for 6 % more bytes; nearly everyone is sent the other twin. */
const QUICK: Levels = { br: 5, gzip: 4 }

/** Brotli 6 to 9 are slower than 5 and no smaller on numbers, so there are three levels and no more. */
function levelsOf(effort: Effort, format: Format, bytes: number): Levels {
  if (effort === 'quick') return QUICK
  if (bytes >= SMALL_BELOW_BYTES) return LARGE
  if (effort === 'best') return { br: 11, gzip: 9 }
  return format === 'json' && bytes < PAGE_BELOW_BYTES ? GOOD : LARGE
}

/** The precompressed twins of an artifact. Same bytes and effort in, same bytes out. */
export function compressTwins(bytes: Uint8Array, format: Format, effort: Effort) {
  const levels = levelsOf(effort, format, bytes.length)
  const br = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: levels.br,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
  return [
    { coding: 'br', bytes: br },
    { coding: 'gzip', bytes: gzipSync(bytes, { level: levels.gzip }) },
  ] as const
}
