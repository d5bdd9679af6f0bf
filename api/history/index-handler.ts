import { CACHING, COMMON_HEADERS } from '../shared-headers.ts'
import { answerHeaders, type Exchange, type Handler, sendLive } from './exchange.ts'
import { indexPage, PAGE_POLICY } from './index-page.ts'
import { index } from './infrastructure.ts'
import type { ServedVersion } from './served-version.ts'

/** `/`: what there is, as a page for a browser and as JSON for everyone else. */
export function createIndexHandler(): Handler {
  let drawn: { readonly of: ServedVersion | null; readonly page: string } | null = null
  return (c, parts) => {
    const served = parts.source.current()
    if (!wantsPage(c)) return sendLive(c, parts, index(served), CACHING.pointer, null, VARY)
    if (drawn === null || drawn.of !== served)
      drawn = { of: served, page: indexPage(served?.snapshot ?? null) }
    return new Response(drawn.page, { headers: { ...answerHeaders(c, parts), ...PAGE_HEADERS } })
  }
}

/** Browsers ask for `text/html`; tools do not. */
const wantsPage = (c: Exchange): boolean => (c.req.header('accept') ?? '').includes('text/html')

const VARY = { vary: `${COMMON_HEADERS.vary}, Accept` }

const PAGE_HEADERS = {
  ...VARY,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': CACHING.pointer,
  'content-security-policy': PAGE_POLICY,
}
