import { IMMUTABLE } from '#core/contract/caching.ts'
import type { ObjectHeaders } from './object-store.ts'

export const immutableHeaders = (content_type: string): ObjectHeaders => ({
  content_type,
  cache_control: IMMUTABLE,
})

export const IMMUTABLE_JSON = immutableHeaders('application/json; charset=utf-8')
export const IMMUTABLE_TEXT = immutableHeaders('text/plain; charset=utf-8')
export const IMMUTABLE_BYTES = immutableHeaders('application/octet-stream')
