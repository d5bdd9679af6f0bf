// One route of a service, whole: what it takes, what it answers and refuses, an example, and its handler. The
// tables of the three services are lists of these; the apps, the OpenAPI documents, the command line and the
// tests loop over them.
import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'
import type { Format, Parameter } from './parameters.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The parameters of a query by name, each parsed, printed and described in one place; or a zod object. */
export type Query = Readonly<Record<string, Parameter<unknown>>> | z.ZodObject

/** `Group` is a group that the service describes: the tag, the key and the refusals of its routes. */
export type Route<Group extends string = string, Handler = unknown> = {
  readonly id: string
  readonly method: Method
  /** Path template: `/v1/strategies/{sid}`. */
  readonly path: string
  readonly group: Group
  /** What a key or token must allow, where they differ. */
  readonly scope?: string
  readonly title: string
  readonly about: string
  readonly query?: Query
  readonly body?: z.ZodType
  /** The body may be empty: every field has a default. */
  readonly isBodyOptional?: true
  /** Schema of `data` in the envelope; a function if the schema is built at the first use only. */
  readonly data: z.ZodType | (() => z.ZodType)
  /** The answer has no envelope: it is `data` itself. */
  readonly isBare?: true
  /** JSON if absent. */
  readonly formats?: readonly Format[]
  /** Media type of a bare answer that is not plain JSON. */
  readonly mediaType?: string
  /** 200 if absent; the first is that of an answer whose handler names none. */
  readonly statuses?: readonly SuccessStatus[]
  /** Refusals beside those of the group, of the parameters and of the body. */
  readonly refusals?: readonly ErrorCode[]
  readonly example?: Example
  readonly handler: Handler
}

export type SuccessStatus = 200 | 201 | 304 | 307

/** A request whose answer is recorded under the id of the route. */
export type Example = {
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
  /** The id of the route whose recorded answer this route gives, too. */
  readonly of?: string
}

/** A route that is read with GET; its example is its own path if it has no other. */
export const getRoute = <const Definition extends { readonly path: string }>(definition: Definition) => ({
  method: 'GET' as const,
  example: { path: definition.path },
  ...definition,
})

/** The schema of `data`, built if it was not yet. */
export const dataSchema = ({ data }: Pick<Route, 'data'>): z.ZodType =>
  typeof data === 'function' ? data() : data

/** The variables of a path template: `client` of `/ops/clients/{client}`. */
export const variablesOf = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)

export const byPath = <R extends Route>(routes: readonly R[]): Map<string, R[]> =>
  Map.groupBy(routes, ({ path }) => path)
