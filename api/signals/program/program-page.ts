// `/program`: the open preview as a page, and the style sheet and the icon that it loads.
import { parseRequest } from '#core/contract/parse-request.ts'
import { programPreview, type SimulationInput } from '#core/contract/payloads/program.ts'
import { ASSETS, INTEGRITY } from '#pages/assets.ts'
import { PAGE_HEADERS, PAGE_TYPE } from '#pages/page-routes.ts'
import { programPage, type Simulator } from '#pages/program.ts'
import { sha256 } from '#storage/digest.ts'
import { type CodedBytes, createCodedBytes } from '../../service/content-coding.ts'
import { type Exchange, queryOf, sendCoded } from '../../service/exchange.ts'
import { CACHING } from '../../service/headers.ts'
import type { PreviewRoute, ServedParts } from '../exchange.ts'
import type { PreparedProgram } from './prepared-program.ts'
import { KEYLESS_BOUNDS, simulateWithin, simulationRequest } from './simulate.ts'

const STYLE = ASSETS.find(({ name }) => name === 'style.css')!
const styleInCoding = createCodedBytes(STYLE.bytes, STYLE.mediaType)

/** Named by its digest: it never changes, and no page meets the style of another release. */
export const STYLE_PATH = `/assets/${sha256(STYLE.bytes).slice(0, 16)}/style.css`

export const sendStyle = (c: Exchange): Promise<Response> =>
  sendCoded(c, styleInCoding, { 'cache-control': CACHING.pinned })

const ICON = ASSETS.find(({ name }) => name === 'icon.svg')!
const iconInCoding = createCodedBytes(ICON.bytes, ICON.mediaType)

export const sendIcon = (c: Exchange): Promise<Response> =>
  sendCoded(c, iconInCoding, { 'cache-control': CACHING.dataset })

/** The page counts as a preview; with the input of its form it counts as a simulation, because it is one. */
export function programPageRoute(c: Exchange): Pick<PreviewRoute, 'limit' | 'handler'> {
  const query = queryOf(c)
  const isSimulated = Object.keys(KEYLESS_BOUNDS).some(name => query.has(name))
  return isSimulated
    ? {
        limit: 'simulate',
        handler: (_, parts) => sendPage(c, simulatedPage(parts, query), CACHING.never),
      }
    : { limit: 'preview', handler: (_, parts) => sendPage(c, plainPage(parts), CACHING.preview) }
}

const sendPage = (c: Exchange, page: CodedBytes, caching: string): Promise<Response> =>
  sendCoded(c, page, { ...PAGE_HEADERS, 'cache-control': caching })

const plainPages = new WeakMap<PreparedProgram, CodedBytes>()

/** Made once for each program that is served. */
function plainPage(parts: ServedParts): CodedBytes {
  const served = parts.servedProgram()
  const page = plainPages.get(served) ?? pageOf(parts, null)
  plainPages.set(served, page)
  return page
}

/** Throws a `validation_error` if a field is missing or no number. */
function simulatedPage(parts: ServedParts, query: URLSearchParams): CodedBytes {
  const served = parts.servedProgram()
  const numberIn = (name: keyof SimulationInput) => Number(query.get(name)?.trim() || Number.NaN)
  const given = {
    equity_usd: numberIn('equity_usd'),
    contribution_cadence_bars: numberIn('contribution_cadence_bars'),
  }
  const input = parseRequest(simulationRequest, given)
  return pageOf(parts, simulateWithin(served, input, KEYLESS_BOUNDS))
}

function pageOf({ servedProgram, settings }: ServedParts, answer: Simulator['answer']): CodedBytes {
  const { documents, dataset } = servedProgram()
  const preview = programPreview.parse(JSON.parse(new TextDecoder().decode(documents.preview)))
  const simulator = { bounds: KEYLESS_BOUNDS, answer }
  const historyUrl = dataset.public_url ?? settings.historyBaseUrl
  const loaded = { style: STYLE_PATH, integrity: INTEGRITY }
  return createCodedBytes(programPage({ preview, dataset, historyUrl, simulator, ...loaded }), PAGE_TYPE)
}
