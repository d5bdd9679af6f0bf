// The pages of versions: the addresses that lead to them, and every file of a version by its name.
import { accepts } from 'hono/accepts'
import { ApiError } from '#core/contract/errors.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { PARAMETERS } from '#core/contract/parameters.ts'
import { cacheTag, pinnedPath } from '#core/contract/pins.ts'
import { findStrategy } from '#core/dataset/resources/resource.ts'
import { ASSETS, INTEGRITY, toIntegrity } from '#pages/assets.ts'
import type { Integrity } from '#pages/layout.ts'
import { missingPage } from '#pages/missing.ts'
import {
  fileKey,
  fileUrl,
  PAGE_HEADERS,
  PAGE_ROUTES,
  PAGE_TYPE,
  type PageRoute,
  pageFile,
} from '#pages/page-routes.ts'
import { createCodedBytes } from '../../service/content-coding.ts'
import { type Exchange, queryOf, sendBytes, sendError } from '../../service/exchange.ts'
import { CACHING, COMMON_HEADERS } from '../../service/headers.ts'
import { openPinned, readPublished } from '../answers/answer-resource.ts'
import {
  assertServed,
  type Handler,
  type HistoryParts,
  redirect,
  sendLive,
  sendReady,
  sendText,
} from '../exchange.ts'
import { ROUTES } from '../routes.ts'
import { versionInPath } from '../versions/history.ts'
import type { ServedVersion } from '../versions/served-version.ts'

/** Leads to the page of the version that is served, and keeps the query. */
export const createPageHandler =
  (route: PageRoute): Handler =>
  (c, parts) => {
    const served = assertServed(c, parts)
    const sid = c.req.param('sid') ?? ''
    if (sid !== '') findStrategy(served.snapshot, sid)
    return redirectTo(c, served, pageFile(route, sid))
  }

function redirectTo(c: Exchange, { version }: ServedVersion, file: string): Response {
  const tag = cacheTag(version)
  const { pathname, search } = new URL(c.req.url)
  const more = { ...(pathname === '/' ? VARY : {}), 'cache-tag': tag, xkey: tag }
  return redirect(c, `/${fileKey(version, file)}${search}`, CACHING.dataset, more)
}

/** `/`: the book for browsers, and the endpoints as JSON for other clients. */
export const indexHandler: Handler = c => {
  const served = c.get('served') ?? null
  if (served !== null && wantsPage(c)) return redirectTo(c, served, 'index.html')
  const answer = {
    data: {
      service: served?.snapshot.dataset.name ?? 'Highwater',
      endpoints: ROUTES.map(({ path, about }) => ({ path, about })),
    },
    links: {
      self: '/',
      docs: '/docs',
      openapi: '/openapi.json',
      version: '/version',
      strategies: '/v1/strategies',
    },
  }
  return sendLive(c, answer, CACHING.pointer, VARY)
}

/** Such as `/strategies/nobody` and `nothing.html`; neither the API nor any other file. */
const PAGE_PATH = /^\/(?!v1\/)[^.]*$|\.html$/

/** The answer to any error. At an address that could be one of a page, a browser gets a page that says what is not there. */
export function refuse(c: Exchange, parts: HistoryParts, error: unknown): Response {
  const refusal = sendError(c, error)
  const isMissing = error instanceof ApiError && (error.code === 'not_found' || error.code === 'gone')
  if (!isMissing || !PAGE_PATH.test(c.req.path)) return refusal
  refusal.headers.set('vary', VARY.vary)
  const served = parts.source.current()
  if (served === null || !wantsPage(c)) return refusal
  const why = error.code === 'gone' ? `${error.message}.` : null
  const body = new TextEncoder().encode(missingPage(served.snapshot, c.req.path, why))
  const headers = { ...Object.fromEntries(refusal.headers), ...PAGE_HEADERS, 'content-type': PAGE_TYPE }
  return sendBytes(c, body, headers, refusal.status)
}

/** Browsers accept `text/html` explicitly; clients that accept anything get JSON. */
const wantsPage = (c: Exchange): boolean =>
  accepts(c, {
    header: 'Accept',
    supports: ['application/json', 'text/html'],
    default: 'application/json',
  }) === 'text/html'

const VARY = { vary: `${COMMON_HEADERS.vary}, Accept` }

/**
 * A file of a version under the name that it has in the store, so that a copy of the store has the same addresses. Null if
 * the path is no such name. A page at a risk level is rendered here, and so is one that an older program did not publish.
 */
export async function answerFile(c: Exchange, parts: HistoryParts): Promise<Response | null> {
  const [, name, file] = FILE_PATH.exec(c.req.path) ?? []
  if (file === undefined) return null
  if (name === undefined) {
    const served = assertServed(c, parts)
    const isThere = artifactAt(served, file) !== undefined || pageAt(served, file) !== null
    return isThere ? redirectTo(c, served, file) : null
  }
  const version = await openPinned(c, parts, versionInPath(parts.source.history(), name))
  c.set('route', '/v1/snapshots/{version}/{file}')
  const page = pageAt(version, file)
  const risk = page?.route.isAtLevels === true ? riskIn(c) : null
  const artifact = artifactAt(version, file)
  const published = await readPublished(c, parts, risk === null ? artifact : undefined)
  if (published !== null) return sendReady(c, published.answer, CACHING.pinned)
  if (page !== null) return renderPage(c, version, page, risk)
  // The file of an answer is lost: its address in the API computes it.
  if (artifact !== undefined && artifact.url !== fileUrl(file))
    return redirect(c, pinnedPath(version.version, artifact.url), CACHING.refusal)
  const document = FILE_ROUTES.find(({ of, proof }) => of === 'version' && proof === file)
  const stored = document === undefined ? null : await parts.files.read(document, version.version)
  return stored === null ? sendAsset(c, file) : sendReady(c, stored.answer, CACHING.pinned)
}

export const isPinnedFile = (path: string): boolean => FILE_PATH.exec(path)?.[1] !== undefined

/** Of a version that the path names, or of the one that is served. */
const FILE_PATH =
  /^\/v1\/(?:snapshots\/(\d{8}T\d{6}Z)\/)?((?:strategies\/[a-z0-9_-]+\/|assets\/)?[a-z]+(?:\.[a-z]+)+)$/

const artifactAt = ({ version, files }: ServedVersion, file: string): Artifact | undefined =>
  files.get(fileKey(version, file))

type Page = { readonly route: PageRoute; readonly sid: string }

function pageAt({ snapshot }: ServedVersion, file: string): Page | null {
  const [, sid = ''] = /^strategies\/([^/]+)\//.exec(file) ?? []
  const route = PAGE_ROUTES.find(each => pageFile(each, sid) === file)
  if (route === undefined) return null
  if (sid !== '') findStrategy(snapshot, sid)
  return { route, sid }
}

/** The risk level of the query; base risk if it makes no sense, and the script of the page says why. */
function riskIn(c: Exchange): number | null {
  const outcome = PARAMETERS.risk_pct.parse(queryOf(c).getAll('risk_pct'))
  return 'value' in outcome ? outcome.value : null
}

function renderPage(c: Exchange, version: ServedVersion, { route, sid }: Page, risk_pct: number | null) {
  c.set('kind', 'computed')
  const html = route.render(version.snapshot, { sid, risk_pct }, integrityIn(version))
  return sendText(c, createCodedBytes(html, PAGE_TYPE), CACHING.pinned, PAGE_HEADERS)
}

/** Of the scripts and the style that were published with the version, else of this program's. */
const integrityIn = (version: ServedVersion): Integrity =>
  Object.fromEntries(
    ASSETS.map(({ name, file }) => {
      const artifact = artifactAt(version, file)
      return [name, artifact === undefined ? INTEGRITY[name] : toIntegrity(artifact.sha256)]
    }),
  )

const CODED = new Map(ASSETS.map(({ file, bytes, mediaType }) => [file, createCodedBytes(bytes, mediaType)]))

async function sendAsset(c: Exchange, file: string): Promise<Response | null> {
  const coded = CODED.get(file)
  return coded === undefined ? null : sendText(c, coded, CACHING.dataset)
}

/** Browsers ask for `/favicon.ico` where no page names the icon, as beside an answer in JSON. */
export const iconHandler: Handler = c => sendText(c, CODED.get('assets/icon.svg')!, CACHING.dataset)
