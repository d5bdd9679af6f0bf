import { toLlmsText } from '#core/contract/llms-text.ts'
import { toOpenApi } from '#core/contract/openapi.ts'
import { createCodedBytes } from '../coded-bytes.ts'
import { CACHING } from '../shared-headers.ts'
import { type Handler, sendReady } from './exchange.ts'
import { API_VERSION } from './infrastructure.ts'
import type { HistorySettings } from './settings.ts'

/** `/openapi.json`: the document of this service. */
export function createDocumentHandler({ publicBaseUrl }: HistorySettings): Handler {
  const document = toOpenApi({ apiVersion: API_VERSION, publicBaseUrl })
  return createTextHandler(JSON.stringify(document), 'application/openapi+json; charset=utf-8')
}

/** `/llms.txt`: the service explained to programs that read prose. */
export const createLlmsHandler = ({ publicBaseUrl }: HistorySettings): Handler =>
  createTextHandler(toLlmsText(publicBaseUrl), 'text/plain; charset=utf-8')

function createTextHandler(text: string, mediaType: string): Handler {
  const coded = createCodedBytes(new TextEncoder().encode(text), mediaType)
  return async (c, parts) =>
    sendReady(c, parts, await coded(c.req.header('accept-encoding')), CACHING.dataset)
}
