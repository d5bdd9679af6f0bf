import { toOpenApi } from '#core/contract/openapi.ts'
import { sha256 } from '#storage/digest.ts'
import { CACHING } from '../shared-headers.ts'
import { type Handler, sendReady } from './exchange.ts'
import { API_VERSION } from './infrastructure.ts'
import { toReadyAnswer } from './ready-answer.ts'
import type { HistorySettings } from './settings.ts'

/** `/openapi.json`: the document of this service, made once. */
export function createDocumentHandler({ publicBaseUrl }: HistorySettings): Handler {
  const document = toOpenApi({ apiVersion: API_VERSION, publicBaseUrl })
  const bytes = new TextEncoder().encode(JSON.stringify(document))
  const answer = toReadyAnswer(bytes, 'identity', `"${sha256(bytes).slice(0, 32)}"`, {
    'content-type': 'application/openapi+json; charset=utf-8',
  })
  return (c, parts) => sendReady(c, parts, answer, CACHING.dataset)
}
