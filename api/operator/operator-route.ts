// An action of the operator, whole: the JSON interface, the page, `highwater ops` and the audit log follow from it.
import type { z } from 'zod'
import { getRoute, type Method, type Route } from '#core/contract/route.ts'
import { findClient } from '#signals/clients/clients.ts'
import type { Operator, Scope } from '#signals/operators/tokens.ts'
import type { EndpointPlace } from '../service/endpoint-actions.ts'
import {
  type Nothing,
  type PageRoute,
  type Sendable,
  type Typed,
  typedAnswer,
} from '../service/page/page-route.ts'
import { type Handler, MOST_OPERATOR_BYTES, type OperatorParts } from './exchange.ts'

export type RouteCommand<Data = unknown> = {
  /** `webhook set <client> <url>`: an argument is a variable of the path or a field of the body. */
  readonly usage: string
  /** Names of options that differ from the names of their fields. */
  readonly options?: Readonly<Record<string, string>>
  /** The fields that are options; all if absent. */
  readonly fields?: readonly string[]
  /** What is sent of an argument. */
  readonly argument?: (text: string) => string
  /** What people read of an answer instead of all of it: a sentence, or other fields. */
  prints?(answer: Data): unknown
}

/** What the page shows, beside which it offers actions. */
type Place =
  | EndpointPlace
  | 'clients'
  | 'client'
  | 'keys'
  | 'key'
  | 'live'
  | 'strategy'
  | 'any strategy'
  | 'signals'
  | 'version'
  | 'tokens'
  | 'token'

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

export type OperatorPage = { readonly place: Place; readonly parts: OperatorParts; readonly who: Operator }

export type OperatorRoute = Route<'operator', Handler> &
  PageRoute<OperatorPage> & {
    readonly command: RouteCommand
    readonly scope: Scope
    /** Null for what is only read. */
    readonly subject: Subject | null
  }

type Definition<Path extends string, Sent extends Sendable, Data extends z.ZodType> = {
  readonly command: RouteCommand<z.output<Data>>
} & Typed<OperatorPage, Path, Sent, Data>

/** A route whose handler takes and answers what its schemas describe: the compiler checks it. */
export function operatorRoute<
  const Path extends string,
  Data extends z.ZodType,
  Sent extends Sendable = Nothing,
>(definition: Access & Definition<Path, Sent, Data>): OperatorRoute {
  const { ask, act } = typedAnswer<OperatorPage, Path, Sent, Data>(definition, MOST_OPERATOR_BYTES)
  return {
    group: 'operator',
    scope: 'read',
    subject: null,
    ...getRoute({ example: { path: definition.path.replace('{client}', 'acme-capital') }, ...definition }),
    ask,
    handler: act,
  }
}

/** An action on the client of the path, which must exist: a POST, unless it says otherwise. */
export const clientAction = <
  const Path extends `/ops/clients/{client}${string}`,
  Data extends z.ZodType,
  Sent extends Sendable = Nothing,
>(
  definition: Definition<Path, Sent, Data> & { readonly method?: Exclude<Method, 'GET'> },
): OperatorRoute =>
  operatorRoute<Path, Data, Sent>({
    method: 'POST',
    needs: (variables, { redis }) => findClient(redis, (variables as { client: string }).client), // the path has it
    ...definition,
    scope: 'clients',
    subject: { kind: 'client', field: 'client' },
  })
