import type { Route } from '#core/contract/route.ts'
import type { Identity } from '#signals/clients/client.ts'
import type { LimitName } from '#signals/program/preview-limits.ts'
import type { Exchange, ServedParts } from './exchange.ts'

/**
 * `open` needs no key, `key` any valid one, `account` one of a client whose account is switched on, `program` one of a
 * client that has the program among its entitlements, switched on or not. `preview` needs none, is counted by the address
 * that asks, and may be read by web pages.
 */
export type SignalsGroup = SignalsRoute['group']

type OpenHandler = (c: Exchange, parts: ServedParts) => Response | Promise<Response>

/** A handler that is asked only once it is known who asks. */
type KeyedHandler = (c: Exchange, parts: ServedParts, caller: Identity) => Response | Promise<Response>

export type PreviewRoute = Route<'preview', OpenHandler> & { readonly limit: LimitName }

export type SignalsRoute =
  | Route<'open', OpenHandler>
  | Route<'key' | 'account' | 'program', KeyedHandler>
  | PreviewRoute

/** Whether a route is answered without a key. */
export const isKeyless = ({ group }: SignalsRoute): boolean => group === 'open' || group === 'preview'
