import type { z } from 'zod'
import { getRoute, type Method, type Route } from '#core/contract/route.ts'
import type { ValueOf } from '#core/contract/value-of.ts'
import type { Scope } from '#signals/operators/tokens.ts'
import type { Handler } from './exchange.ts'

/** How `highwater ops` calls a route. */
export type RouteCommand = {
  /** `webhook set <client> <url>`: an argument is a variable of the path or a field of the body. */
  readonly usage: string
  /** Names of options that differ from the names of their fields. */
  readonly options?: Readonly<Record<string, string>>
}

/** What an action is about, for the audit log. */
export type Subject = {
  /** What it names: its state is logged, of a key that of its client; that of a `name` is not. */
  readonly kind: 'client' | 'key' | 'strategy' | 'name'
  /** The variable of the path that names it, or the field of the body if the path has no such variable. */
  readonly field: string
  /** Its name if the field is left out. */
  readonly otherwise?: string
}

/** What a token needs for an action, and what the action is about: none can be declared without. What is only read needs `read`. */
type Access =
  | { readonly method?: 'GET' }
  | {
      readonly method: Exclude<Method, 'GET'>
      readonly scope: Exclude<Scope, 'read'>
      readonly subject: Subject
    }

export type OperatorRoute = Route<'operator', Handler> & {
  readonly command: RouteCommand
  readonly scope: Scope
  /** Null for what is only read. */
  readonly subject: Subject | null
}

type Answering<Data extends z.ZodType> = Omit<
  OperatorRoute,
  'method' | 'scope' | 'subject' | 'group' | 'data' | 'handler'
> & {
  readonly data: Data
  readonly handler: Handler<ValueOf<Data>>
}

/** A route whose handler answers what its schema describes: the compiler checks it. */
export const operatorRoute = <Data extends z.ZodType>(
  definition: Access & Answering<Data>,
): OperatorRoute => ({
  group: 'operator',
  scope: 'read',
  subject: null,
  ...getRoute(definition),
})

/** An action on the client of the path: a POST, unless it says otherwise. */
export const clientAction = <Data extends z.ZodType>(
  definition: Answering<Data> & { readonly method?: Exclude<Method, 'GET'> },
): OperatorRoute =>
  operatorRoute({
    method: 'POST',
    ...definition,
    scope: 'clients',
    subject: { kind: 'client', field: 'client' },
  })
