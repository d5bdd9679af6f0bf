// `/docs`: the index and the guides, written with the version that is served, and the API reference.
import { toCompactInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'

import { DOCS } from '#pages/guides/documents.ts'
import { exampleStrategy } from '#pages/guides/guide.ts'
import { docsIndex, guidePage } from '#pages/guides/guides.ts'
import { PAGE_HEADERS, PAGE_TYPE } from '#pages/page-routes.ts'
import type { Exchange } from '../../service/exchange.ts'
import { createReference } from '../../service/reference/reference.ts'
import { createTexts, type Handler, type HistoryParts } from '../exchange.ts'
import { ENDPOINTS, historyDocument } from '../routes.ts'

/** All below `/docs` is one pattern: a name beside a folder would make the router take its slower way. */
export const DOCS_PATTERN = '/docs/:file{reference|[^/]+/[^/]+}'

const GUIDE_PATH = /^\/docs\/guides\/([^/]+)$/

export function createDocsHandler({ publicBaseUrl }: HistoryParts['settings']): Handler {
  const reference = createReference(REFERENCE, () => historyDocument(publicBaseUrl), valuesOf)
  const pages = createTexts(writePage, PAGE_TYPE, PAGE_HEADERS)
  return (c, parts) => {
    const { path } = c.req
    return path === '/docs' || GUIDE_PATH.test(path) ? pages(c, parts) : reference(c)
  }
}

const REFERENCE = {
  path: '/docs/reference',
  links: { '/': 'Book', '/docs': 'Docs', '/docs/guides/figures': 'Figures' },
} as const

/** What the commands of the reference are about: a strategy that there is, in the version that is served. */
function valuesOf(c: Exchange): Readonly<Record<string, string>> {
  const snapshot = c.get('served')?.snapshot
  const strategy = snapshot && exampleStrategy(snapshot)
  if (snapshot === undefined || strategy === undefined) return {}
  return { sid: strategy.id, version: toCompactInstant(snapshot.dataset.version), seq: '0000000001' }
}

function writePage(c: Exchange, { settings }: HistoryParts): string {
  const snapshot = c.get('served')?.snapshot
  const strategy = snapshot && exampleStrategy(snapshot)
  if (snapshot === undefined || strategy === undefined)
    throw new ApiError('not_ready', 'no dataset is loaded yet; /docs/reference needs none')
  const { publicBaseUrl: base, signalsBaseUrl: signals } = settings
  const facts = { base, signals, dataset: snapshot.dataset, strategy }
  const [, name] = GUIDE_PATH.exec(c.req.path) ?? []
  if (name === undefined) return docsIndex(facts, ENDPOINTS)
  const guide = DOCS.find(each => each.name === name)
  if (guide === undefined) throw new ApiError('not_found', 'no such guide; /docs lists them')
  return guidePage(guide, facts)
}
