// An action of a subscriber, whole: the JSON interface and the page for subscribers follow from it.
import type { z } from 'zod'
import { getRoute, type Method, type Route } from '#core/contract/route.ts'
import type { Json } from '#core/dataset/render/json.ts'
import type { Client } from '#signals/clients/clients.ts'
import type { Setter } from '#signals/outbox/setter.ts'
import type { EndpointPlace } from '../service/endpoint-actions.ts'
import { type Exchange, queryOf, sendEnveloped } from '../service/exchange.ts'
import {
  type Answer,
  type Nothing,
  type PageRoute,
  type Sendable,
  type Typed,
  typedAnswer,
} from '../service/page/page-route.ts'
import type { KeyedHandler, ServedParts } from './exchange.ts'

/** Who asks: with a key, or in a session that a key or an operator's link began. */
export type Caller = { readonly client: Client; readonly by: Setter }

/** The page for subscribers. */
export type AccountPage = { readonly place: EndpointPlace; readonly parts: ServedParts; readonly who: Caller }

export type KeyedRoute = Route<'key' | 'account', KeyedHandler> &
  PageRoute<AccountPage> & {
    /** What the handler sends: the page shows it. */
    readonly act: (c: Exchange, parts: ServedParts, caller: Caller) => Promise<Answer>
  }

type Definition<Path extends string, Sent extends Sendable, Data extends z.ZodType> = {
  readonly group: KeyedRoute['group']
  readonly method?: Method
} & Typed<AccountPage, Path, Sent, Data>

/** The largest body: an endpoint with ten headers. */
export const MOST_KEYED_BYTES = 16_384

/** A route whose handler takes and answers what its schemas describe: the compiler checks it. */
export function keyedRoute<
  const Path extends string,
  Data extends z.ZodType,
  Sent extends Sendable = Nothing,
>(definition: Definition<Path, Sent, Data>): KeyedRoute {
  const { ask, act } = typedAnswer<AccountPage, Path, Sent, Data>(definition, MOST_KEYED_BYTES)
  const example = { path: definition.path.replace('{endpoint}', 'default').replace('{seq}', '1') }
  const route = getRoute({ example, ...definition })
  return {
    ...route,
    ask,
    act,
    handler: async (c, parts, { client, keyId }) => {
      const { data, meta, status } = await act(c, parts, { client, by: { kind: 'key', id: keyId } })
      const next = meta?.next == null ? {} : { next: olderThan(meta.next, c) }
      const links = { self: c.req.path, ...next }
      return sendEnveloped(c, data as Json, links, {}, {}, status ?? route.statuses?.[0]) // a schema of JSON describes it
    },
  }
}

/** The path of the rows before a number, with the same filter. */
function olderThan(before: number, c: Exchange): string {
  const query = queryOf(c)
  query.set('before', String(before))
  return `${c.req.path}?${query}`
}
