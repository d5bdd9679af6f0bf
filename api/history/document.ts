import { toLlmsText } from '#core/contract/llms-text.ts'
import { createCodedBytes } from '../http/coded-bytes.ts'
import { madeOnce } from '../http/made-once.ts'
import { CACHING } from '../http/shared-headers.ts'
import { type Handler, sendReady } from './exchange.ts'
import { API_VERSION } from './infrastructure.ts'
import type { HistorySettings } from './settings.ts'

/** `/openapi.json`: the document of this service. */
export function createDocumentHandler({ publicBaseUrl }: HistorySettings): Handler {
  const write = async () => {
    const { toOpenApi } = await import('#core/contract/openapi.ts') // with the schemas of all answers
    return JSON.stringify(toOpenApi({ apiVersion: API_VERSION, publicBaseUrl }))
  }
  return createTextHandler(write, 'application/openapi+json; charset=utf-8')
}

/** `/llms.txt`: the service explained to programs that read prose. */
export const createLlmsHandler = ({ publicBaseUrl }: HistorySettings): Handler =>
  createTextHandler(async () => toLlmsText(publicBaseUrl), 'text/plain; charset=utf-8')

/** The text is written at the first request: nobody waits for it at the start. */
function createTextHandler(write: () => Promise<string>, mediaType: string): Handler {
  const coded = madeOnce(async () => createCodedBytes(new TextEncoder().encode(await write()), mediaType))
  return async (c, parts) => {
    const inCoding = await coded()
    return sendReady(c, parts, await inCoding(c.req.header('accept-encoding')), CACHING.dataset)
  }
}
