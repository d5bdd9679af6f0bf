import { accepts } from 'hono/accepts'
import { CACHING, COMMON_HEADERS } from '../http/shared-headers.ts'
import { answerHeaders, type Exchange, type Handler, sendLive } from './exchange.ts'
import { indexPage, PAGE_POLICY } from './index-page.ts'
import { index } from './infrastructure.ts'
import type { ServedVersion } from './served-version.ts'

/** `/`: what there is, as a page for a browser and as JSON for everyone else. */
export function createIndexHandler(): Handler {
  let drawn: { readonly of: ServedVersion | null; readonly page: Uint8Array<ArrayBuffer> } | null = null
  return (c, parts) => {
    const served = c.get('served')
    if (!wantsPage(c)) return sendLive(c, parts, index(served), CACHING.pointer, null, VARY)
    if (drawn === null || drawn.of !== served) {
      drawn = { of: served, page: new TextEncoder().encode(indexPage(served?.snapshot ?? null)) }
    }
    c.set('bytes', drawn.page.length)
    const length = { 'content-length': String(drawn.page.length) }
    return new Response(drawn.page, { headers: { ...answerHeaders(c, parts), ...PAGE_HEADERS, ...length } })
  }
}

/** Browsers ask for `text/html`; tools do not, and whoever takes anything gets JSON. */
const wantsPage = (c: Exchange): boolean => accepts(c, NEGOTIATION) === 'text/html'

const NEGOTIATION: Parameters<typeof accepts>[1] = {
  header: 'Accept',
  supports: ['application/json', 'text/html'],
  default: 'application/json',
}

const VARY = { vary: `${COMMON_HEADERS.vary}, Accept` }

const PAGE_HEADERS = {
  ...VARY,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': CACHING.pointer,
  'content-security-policy': PAGE_POLICY,
}
