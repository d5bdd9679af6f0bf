// `/docs`: the index and the guides, written with the version that is served, and the API reference.
import { ApiError } from '#core/contract/errors.ts'
import { exampleStrategy } from '#pages/guides/guide.ts'
import { docsIndex, GUIDE_STYLE, GUIDE_STYLE_PATH, GUIDES, guidePage } from '#pages/guides/guides.ts'
import { PAGE_HEADERS, PAGE_TYPE } from '#pages/page-routes.ts'
import { createCodedBytes } from '../../service/content-coding.ts'
import type { Exchange } from '../../service/exchange.ts'
import { CACHING } from '../../service/headers.ts'
import { createReference } from '../../service/reference/reference.ts'
import { createTexts, type Handler, type HistoryParts, sendText } from '../exchange.ts'
import { ENDPOINTS } from '../routes.ts'

/** All below `/docs` is one pattern: a name beside a folder would make the router take its slower way. */
export const DOCS_PATTERN = '/docs/:file{reference|[^/]+/[^/]+}'

const GUIDE_PATH = /^\/docs\/guides\/([^/]+)$/

export function createDocsHandler(): Handler {
  const reference = createReference(REFERENCE)
  const style = createCodedBytes(GUIDE_STYLE, 'text/css; charset=utf-8')
  const pages = createTexts(writePage, PAGE_TYPE, PAGE_HEADERS)
  return (c, parts) => {
    const { path } = c.req
    if (path === GUIDE_STYLE_PATH) return sendText(c, style, CACHING.pinned)
    if (path !== '/docs' && !GUIDE_PATH.test(path)) return reference(c)
    return pages(c, parts)
  }
}

const REFERENCE = {
  path: '/docs/reference',
  title: 'Historical strategy data: the API',
  document: '/openapi.json',
  tries: ['get'],
  links: { '/docs': 'Docs' },
  catalogue: '/v1/strategies',
} as const

function writePage(c: Exchange, { settings }: HistoryParts): string {
  const snapshot = c.get('served')?.snapshot
  const strategy = snapshot && exampleStrategy(snapshot)
  if (snapshot === undefined || strategy === undefined)
    throw new ApiError('not_ready', 'no dataset is loaded yet; /docs/reference needs none')
  const facts = {
    base: settings.publicBaseUrl,
    signals: settings.signalsBaseUrl,
    dataset: snapshot.dataset,
    strategy,
  }
  const [, name] = GUIDE_PATH.exec(c.req.path) ?? []
  if (name === undefined) return docsIndex(facts, ENDPOINTS)
  const guide = GUIDES.find(each => each.name === name)
  if (guide === undefined) throw new ApiError('not_found', 'no such guide; /docs lists them')
  return guidePage(guide, facts)
}
