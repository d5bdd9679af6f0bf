import { getRoute, type Method, type Route } from '#core/contract/route.ts'
import type { Identity } from '#signals/clients/clients.ts'
import type { LimitName } from '#signals/program/preview-limits.ts'
import type { Exchange } from '../service/exchange.ts'
import type { ServedParts } from './exchange.ts'

/**
 * `open` needs no key, `key` any valid one, `account` one of an active client, `program` one of a client with the
 * program among its entitlements, active or not. `preview` needs none, is limited per address, and may be read by web
 * pages.
 */
export type SignalsGroup = SignalsRoute['group']

type OpenHandler = (c: Exchange, parts: ServedParts) => Response | Promise<Response>

/** A handler that is called with an identified client. */
type KeyedHandler = (c: Exchange, parts: ServedParts, caller: Identity) => Response | Promise<Response>

export type PreviewRoute = Route<'preview', OpenHandler> & { readonly limit: LimitName }

export type SignalsRoute =
  | PreviewRoute
  | Route<'open', OpenHandler>
  | Route<'key', KeyedHandler>
  | Route<'account', KeyedHandler>
  | Route<'program', KeyedHandler>

type RouteOf<Group extends SignalsGroup> = Extract<SignalsRoute, { readonly group: Group }>

/** The routes of a group; those without a method are read with GET. */
export const routesOf = <Group extends SignalsGroup>(
  group: Group,
  definitions: readonly (Omit<RouteOf<Group>, 'group' | 'method'> & { readonly method?: Method })[],
) => definitions.map(definition => ({ group, ...getRoute(definition) }))

/** Whether a route needs no key. */
export const isKeyless = ({ group }: SignalsRoute): boolean => group === 'open' || group === 'preview'
