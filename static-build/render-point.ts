import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { toIsoDate } from '#core/calendar.ts'
import { artifactKey, TWIN_ENDINGS, type TwinCoding, versionFolder } from '#core/contract/artifacts.ts'
import type { Artifact, Effort } from '#core/contract/manifest.ts'
import { isBinary, type Params } from '#core/contract/parameters.ts'
import { renderAnswer } from '#core/dataset/resources/render-answer.ts'
import type { ResourceId } from '#core/dataset/resources/resource.ts'
import { canonicalPath, canonicalPoints, DATASET_ROUTES, routeOf } from '#core/dataset/resources/routes.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { ASSETS, INTEGRITY } from '#pages/assets.ts'
import type { AssetName } from '#pages/layout.ts'
import {
  fileKey,
  fileUrl,
  PAGE_HEADERS,
  PAGE_ROUTES,
  PAGE_TYPE,
  type PageId,
  pageFile,
  pictureFile,
  publishedPages,
} from '#pages/page-routes.ts'
import { sha256 } from '#storage/digest.ts'
import { immutableHeaders, type ObjectHeaders } from '#storage/object-store.ts'
import { drawPicture } from './draw-picture.ts'

/** What a file of a version is rendered from: an answer at its canonical parameters, a page, the picture of
 * its previews, or an asset of the pages. */
export type Point =
  | { readonly kind: 'answer'; readonly id: ResourceId; readonly params: Params }
  | { readonly kind: 'page'; readonly id: PageId; readonly sid: string }
  | { readonly kind: 'picture'; readonly sid: string }
  | { readonly kind: 'asset'; readonly name: AssetName }

/** Every point of a snapshot: its canonical answers, its pages and their pictures, and what these load. */
export function publishedPoints({ strategies }: Pick<Snapshot, 'strategies'>): Point[] {
  const ids = strategies.map(({ id }) => id)
  const answers = DATASET_ROUTES.flatMap(route =>
    canonicalPoints(route, ids).map((params): Point => ({ kind: 'answer', id: route.id, params })),
  )
  const pages = publishedPages(ids).map(({ route, sid }): Point => ({ kind: 'page', id: route.id, sid }))
  const pictures = ['', ...ids].map((sid): Point => ({ kind: 'picture', sid }))
  return [...answers, ...pages, ...pictures, ...ASSETS.map(({ name }): Point => ({ kind: 'asset', name }))]
}

/** The strategy that a point is about, or '' if it is about the book: a part of a snapshot has all points of its strategy. */
export function sidOf(point: Point): string {
  if (point.kind === 'asset') return ''
  return point.kind === 'answer' ? point.params.sid : point.sid
}

export const strategyFolder = (version: string, id: string): string =>
  `${versionFolder(version)}/strategies/${id}`

/** The files of a canonical point, plain and twins, and its line of the manifest. */
export type RenderedPoint = ReturnType<typeof renderPoint>

/** Renders one file, and compresses it if it is text. */
export function renderPoint(snapshot: Snapshot, point: Point, effort: Effort) {
  const { key, url, mediaType, headers, bytes, extent, kind } = contentOf(snapshot, point)
  const plain = immutableHeaders(mediaType)
  const twins: Twin[] = kind === 'binary' ? [] : compressTwins(bytes, kind, effort)
  const artifact: Artifact = {
    url,
    key,
    media_type: mediaType,
    headers,
    ...describe(bytes),
    ...extent,
    encodings: Object.fromEntries(twins.map(({ coding, bytes }) => [coding, describe(bytes)])),
  }
  const twinFiles = twins.map(({ coding, bytes }) => {
    const headers: ObjectHeaders = { ...plain, content_encoding: coding }
    return { key: key + TWIN_ENDINGS[coding], bytes, headers }
  })
  const files = [{ key, bytes, headers: plain }, ...twinFiles]
  return { artifact, files }
}

/** What decides how a file is compressed: rows of numbers, other JSON of the API, a page or a script, or
 * Arrow, Parquet and pictures. */
type Kind = 'table' | 'json' | 'page' | 'binary'

/** A file before it is compressed. */
type Content = Pick<Artifact, 'url' | 'key' | 'headers'> & {
  readonly mediaType: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly extent: Pick<Artifact, 'rows' | 'first' | 'last'>
  readonly kind: Kind
}

function contentOf(snapshot: Snapshot, point: Point): Content {
  const { version } = snapshot.dataset
  if (point.kind === 'answer') return answerContent(snapshot, point)
  if (point.kind === 'asset') {
    const { file, mediaType, bytes } = ASSETS.find(({ name }) => name === point.name)!
    return fileContent(version, file, { mediaType, bytes: bytes.slice(), headers: {} }) // a thread gives its bytes away
  }
  if (point.kind === 'picture') {
    const picture = { mediaType: 'image/png', bytes: drawPicture(snapshot, point.sid), headers: {} }
    return { ...fileContent(version, pictureFile(point.sid), picture), kind: 'binary' }
  }
  const route = PAGE_ROUTES.find(({ id }) => id === point.id)!
  const html = route.render(snapshot, { sid: point.sid, risk_pct: null }, INTEGRITY)
  const bytes = new TextEncoder().encode(html)
  const page = { mediaType: PAGE_TYPE, bytes, headers: PAGE_HEADERS }
  return fileContent(version, pageFile(route, point.sid), page)
}

function answerContent(
  snapshot: Snapshot,
  { id, params }: Extract<Point, { readonly kind: 'answer' }>,
): Content {
  const { headers: all, bytes, answer } = renderAnswer(id, snapshot, params)
  const { 'content-type': mediaType = '', ...headers } = all
  const { table } = answer
  const { rows = 0, columns: [dates] = [] } = table ?? {}
  const isDated = rows > 0 && dates?.kind === 'date'
  return {
    key: artifactKey(snapshot.dataset.version, routeOf(id), params),
    url: canonicalPath(id, params),
    mediaType,
    headers,
    bytes,
    extent: {
      rows: table?.rows ?? null,
      first: isDated ? toIsoDate(dates.at(0)) : null,
      last: isDated ? toIsoDate(dates.at(rows - 1)) : null,
    },
    kind: isBinary(params.format) ? 'binary' : table === undefined ? 'json' : 'table',
  }
}

function fileContent(
  version: string,
  file: string,
  content: Pick<Content, 'mediaType' | 'bytes' | 'headers'>,
): Content {
  const extent = { rows: null, first: null, last: null }
  return { ...content, key: fileKey(version, file), url: fileUrl(file), extent, kind: 'page' }
}

const describe = (bytes: Uint8Array) => ({ bytes: bytes.length, sha256: sha256(bytes) })

/** From here on the levels are `LARGE`: of 25 MB Brotli 11 would take minutes, and gzip 9 take 4 % off, four times as long as 6. */
const LARGE_BYTES = 1 << 20

const LARGE = { br: 5, gzip: 6 }
/** Saves an eighth of what is requested most. Of a page it saves a tenth, of a table a twentieth, in 20 times the time. */
const GOOD = { br: 10, gzip: 6 }
/** Gzip 4 takes 40 % of the time of 6, for 6 % more bytes; nearly everyone is sent the other twin. */
const QUICK = { br: 5, gzip: 4 }

/** Brotli 6 to 9 are slower than 5 and no smaller on numbers, so there are three levels and no more. */
function levelsOf(effort: Effort, kind: Kind, bytes: number): typeof LARGE {
  if (effort === 'quick') return QUICK
  if (bytes >= LARGE_BYTES) return LARGE
  if (effort === 'best') return { br: 11, gzip: 9 }
  return kind === 'json' ? GOOD : LARGE
}

/**
 * The windows in bits, and the strategy of gzip. Digits repeat by chance: a match far back costs more than the digits,
 * and what a row shares with another, it shares with the row before or with itself. Brotli 5 makes a table 5 to 17 % smaller for it.
 */
const NEAR = { br: 10, gzip: 12, strategy: constants.Z_FILTERED }
const FAR = { br: 22, gzip: 15, strategy: constants.Z_DEFAULT_STRATEGY }

const SMALLEST_CHUNK = 2 ** 10

/**
 * The precompressed twins of an artifact. Same bytes, kind and effort in, same bytes out. Every browser that is sent pages
 * over TLS accepts Brotli, so pages have no gzip twin: it would be a sixth of their bytes.
 */
export function compressTwins(bytes: Uint8Array, kind: Kind, effort: Effort): Twin[] {
  const levels = levelsOf(effort, kind, bytes.length)
  const window = kind === 'table' ? NEAR : FAR
  const chunkSize = Math.max(SMALLEST_CHUNK, bytes.length >> 1) // one chunk holds what it becomes, which no other joins then
  const br = brotliCompressSync(bytes, {
    chunkSize,
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: levels.br,
      [constants.BROTLI_PARAM_LGWIN]: window.br,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
  const twins: Twin[] = [{ coding: 'br', bytes: br }]
  if (kind === 'page') return twins
  const gzip = gzipSync(bytes, {
    chunkSize,
    level: levels.gzip,
    windowBits: window.gzip,
    strategy: window.strategy,
  })
  return [...twins, { coding: 'gzip', bytes: gzip }]
}

type Twin = { readonly coding: TwinCoding; readonly bytes: Uint8Array<ArrayBuffer> }
