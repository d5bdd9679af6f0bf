import { signalSchema } from '#core/contract/signal-schema.ts'
import { toSignalsOpenApi } from '#core/contract/signals-openapi.ts'
import { type Json, renderJson } from '#core/dataset/render/json.ts'
import type { SignalsSettings } from './settings.ts'

export const API_VERSION = '1.0'

/** What is the same in every answer, and is made once. */
export type Documents = {
  readonly signalSchema: Json
  readonly openApi: Uint8Array<ArrayBuffer>
}

/** Makes the documents of a service. */
export const createDocuments = ({ publicBaseUrl }: SignalsSettings): Documents => ({
  signalSchema: signalSchema(publicBaseUrl) as Json, // zod makes plain JSON, and calls it unknown
  openApi: renderJson(toSignalsOpenApi(API_VERSION, publicBaseUrl) as Json), // the same
})
