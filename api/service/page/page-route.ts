// What a route declares for the page of its service: where it is offered, what must be confirmed, and what is shown after it.
import { z } from 'zod'
import type { JsonSchema } from '#core/contract/parameters.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import type { ValueOf } from '#core/contract/payloads/field.ts'
import type { Query, Route, SuccessStatus } from '#core/contract/route.ts'
import type { Exchange } from '../exchange.ts'
import { readJson } from '../read-body.ts'

declare module 'hono' {
  /** Set by the forms of a page, in the place of what a request of the JSON interface carries. */
  interface ContextVariableMap {
    body?: Promise<unknown>
    query?: unknown
    variables?: Readonly<Record<string, string>>
    /** Set if the page asks for itself again, to follow what happens. */
    isUpdate?: boolean
  }
}

/** What must be confirmed first: the question, what will happen, and the button if it is not that of the form. */
export type Warning = readonly [title: string, says: string, button?: string]

/** A button beside something that the page shows, or a form. */
type Offer<Place> = {
  readonly at: Place
  readonly button: string
  readonly tone?: 'stop' | 'quiet'
  /** The fields and variables of the path that are asked for. */
  readonly inputs?: readonly string[]
  /** Only while this holds of what is shown. */
  readonly when?: Readonly<Record<string, unknown>>
}

/** A page: what it shows, beside which it offers actions, what its handlers are given, and who has logged in. */
export type PageKind = { readonly place: string; readonly parts: unknown; readonly who: unknown }

type RouteForm<K extends PageKind, Asked = unknown, Data = unknown> = {
  readonly offers: readonly Offer<K['place']>[]
  /** Null needs no confirmation. */
  warn?(asked: Asked, parts: K['parts'], who: K['who']): Warning | null | Promise<Warning | null>
  /** A field that the confirmation has an input for. */
  readonly asks?: string
  /** The page that it belongs to, if its path does not say so. */
  readonly below?: string
  /** What the page says once it is done; not needed where a secret is shown. */
  readonly done?: string
  /** The same if nothing was to be done. */
  readonly idle?: string
  isIdle?(answer: Data): boolean
  /** Where the next page is if it is not that of the form. */
  next?(answer: Data): string
  /** How fields are made that may be left empty. */
  readonly makes?: Readonly<Record<string, (parts: K['parts']) => string>>
}

/** A field of the answer that is shown this once, or is null, and what the page says of it. */
export type Secret = { readonly field: string; readonly title: string; readonly says: string }

/** A handler's answer: `data` of the envelope, and the status if it is not the first one of the route. */
export type Answer<Data = unknown> = {
  readonly status?: SuccessStatus
  readonly data: Data
  readonly meta?: { next?: number | null }
}

export type PageRoute<K extends PageKind> = Pick<
  Route,
  'id' | 'title' | 'method' | 'path' | 'query' | 'body'
> & {
  /** Absent if the page has none. */
  readonly form?: RouteForm<K>
  readonly secret?: Secret
  /** What a request asks for. Rejects if the action needs something that is not there, or the request is not well-formed. */
  readonly ask: (c: Exchange, parts: K['parts'], who: K['who']) => Promise<unknown>
}

/** A route of any page, as far as it is not called. */
export type AnyPageRoute = PageRoute<{ place: string; parts: never; who: never }>

type VariablesOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Variable in Name]: string } & VariablesOf<Rest>
  : unknown

export type Sendable = z.ZodObject<z.ZodRawShape, z.core.$strict>

export type Nothing = z.ZodObject<Record<never, never>, z.core.$strict>

/** What is asked: the variables of the path, and the fields of the query or the body. */
type Asked<Path extends string, Sent extends Sendable> = VariablesOf<Path> & z.output<Sent>

/** A route as it is declared: the compiler checks what it takes and answers against its schemas. */
export type Typed<K extends PageKind, Path extends string, Sent, Data extends z.ZodType> = Pick<
  Route,
  'id' | 'title' | 'about' | 'statuses' | 'refusals' | 'example'
> & {
  readonly path: Path
  readonly query?: Sent
  readonly body?: Sent
  readonly isBodyOptional?: true
  readonly data: Data
  readonly form?: RouteForm<K, Asked<Path, Sent & Sendable>, z.output<Data>>
  readonly secret?: Secret
  /** Rejects if the action needs something that is not there: before what was sent with it is read. */
  readonly needs?: (variables: VariablesOf<Path>, parts: K['parts'], who: K['who']) => Promise<unknown>
  readonly handler: (
    asked: Asked<Path, Sent & Sendable>,
    parts: K['parts'],
    who: K['who'],
  ) => Promise<Answer<ValueOf<Data>>>
}

/** Reads what a request, or a form in its place, asks for, and calls the handler with it. */
export function typedAnswer<
  K extends PageKind,
  Path extends string,
  Sent extends Sendable,
  Data extends z.ZodType,
>({ query, body, isBodyOptional, needs, handler }: Typed<K, Path, Sent, Data>, mostBytes: number) {
  const ask = async (c: Exchange, parts: K['parts'], who: K['who']): Promise<Asked<Path, Sent>> => {
    await needs?.(variablesIn(c) as VariablesOf<Path>, parts, who) // the router has matched the variables
    const sent =
      query !== undefined
        ? parseRequest(query, c.get('query') ?? c.req.query())
        : body && parseRequest(body, await readSent(c, mostBytes, isBodyOptional))
    return { ...sent, ...variablesIn(c) } as Asked<Path, Sent> // as above
  }
  const act = async (c: Exchange, parts: K['parts'], who: K['who']): Promise<Answer<ValueOf<Data>>> =>
    handler(await ask(c, parts, who), parts, who)
  return { ask, act }
}

/** The variables of the path of a request. */
export const variablesIn = (c: Exchange): Readonly<Record<string, string>> =>
  c.get('variables') ?? c.req.param()

/** The JSON of a request, read once; an empty body is an empty object if `isOptional`. Throws 415, 413 or 400. */
export function readSent(c: Exchange, mostBytes: number, isOptional = false): Promise<unknown> {
  const reading = c.get('body') ?? readJson(c.req.raw, mostBytes, isOptional)
  c.set('body', reading) // an audit log reads it first
  return reading
}

export type RouteField = ReturnType<typeof fieldsOf>[number]

/** The fields of a query or a body as its schema describes them: the options of a command, and the inputs of a form. */
export function fieldsOf(of: Query | z.ZodType | undefined) {
  if (!(of instanceof z.ZodObject)) return []
  const schema = z.toJSONSchema(of.clone().meta({}), { io: 'input' }) as JsonSchema // of an object
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).map(([name, field]) => {
    const { description = '', default: initial, format, enum: listed, anyOf = [] } = field
    const { type } = anyOf.find(each => each.type !== 'null') ?? field
    return {
      ...{ name, description, initial, format, listed: listed?.map(String) },
      type: typeof type === 'string' ? type : 'string', // or several, one of which is null
      isNullable: anyOf.some(each => each.type === 'null'),
      isRequired: required.includes(name),
    }
  })
}
