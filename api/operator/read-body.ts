import * as body from '../http/read-body.ts'
import type { Exchange } from './exchange.ts'

/** The largest body of ours, a client with a thousand aliases, is a third of this. */
export const MOST_OPERATOR_BYTES = 256 << 10

/** The JSON of a request; an empty body is an empty object where `isOptional`. Throws 415, 413 or 400. */
export const readJson = (c: Exchange, isOptional = false): Promise<unknown> =>
  body.readJson(c.req.raw, MOST_OPERATOR_BYTES, isOptional)

/** The body as UTF-8 text. Throws 413 or 400. */
export const readText = (c: Exchange): Promise<string> => body.readText(c.req.raw, MOST_OPERATOR_BYTES)
