import type { z } from 'zod'
import { getRoute, type Method, type Route } from '#core/contract/route.ts'
import type { ValueOf } from '#core/contract/value-of.ts'
import type { Handler } from './exchange.ts'

/** How `highwater ops` calls a route. */
export type RouteCommand = {
  /** `webhook set <client> <url>`: an argument is a variable of the path or a field of the body. */
  readonly usage: string
  /** Names of options that differ from the names of their fields. */
  readonly options?: Readonly<Record<string, string>>
}

export type OperatorRoute = Route<'operator', Handler> & { readonly command: RouteCommand }

type Definition<Data extends z.ZodType> = Omit<OperatorRoute, 'method' | 'group' | 'data' | 'handler'> & {
  readonly method?: Method
  readonly data: Data
  readonly handler: Handler<ValueOf<Data>>
}

/** A route whose handler answers what its schema describes: the compiler checks it. */
export const operatorRoute = <Data extends z.ZodType>(definition: Definition<Data>): OperatorRoute => ({
  group: 'operator',
  ...getRoute(definition),
})
