// An action of the operator, whole: the JSON interface, the page, `highwater ops` and the audit log follow from it.
import { z } from 'zod'
import type { JsonSchema } from '#core/contract/parameters.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import type { ValueOf } from '#core/contract/payloads/field.ts'
import { getRoute, type Method, type Query, type Route } from '#core/contract/route.ts'
import type { Operator, Scope } from '#signals/operators/tokens.ts'
import type { Exchange } from '../service/exchange.ts'
import { type Answer, type Handler, readJson } from './exchange.ts'
import type { OperatorParts } from './parts.ts'

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

/** What an operator must confirm first: the question, what will happen, and the button if it is not that of the form. */
export type Warning = readonly [title: string, says: string, button?: string]

/** What the page shows, beside which it offers actions. */
export type Place =
  | 'clients'
  | 'client'
  | 'keys'
  | 'key'
  | 'webhook'
  | 'settings of a webhook'
  | 'delivery'
  | 'given up'
  | 'live'
  | 'strategy'
  | 'any strategy'
  | 'signals'
  | 'version'
  | 'tokens'
  | 'token'

/** A button beside something that the page shows, or a form with the fields of the route as its inputs. */
type Offer = {
  readonly at: Place
  readonly button: string
  readonly tone?: 'stop' | 'quiet'
  readonly hasInputs?: true
  /** Only while this holds of what is shown. */
  readonly when?: Readonly<Record<string, unknown>>
}

export type RouteForm<Asked = unknown, Data = unknown> = {
  readonly offers: readonly Offer[]
  /** Null needs no confirmation. */
  warn?(asked: Asked, parts: OperatorParts): Warning | null | Promise<Warning | null>
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
  /** Fields without an input, and how those are made that may be left empty. */
  readonly hides?: readonly string[]
  readonly makes?: Readonly<Record<string, (parts: OperatorParts) => string>>
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

/** A field of the answer that is shown this once, or is null, and what the page says of it. */
export type Secret = { readonly field: string; readonly title: string; readonly says: string }

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
  /** Absent if the page has none. */
  readonly form?: RouteForm
  readonly secret?: Secret
  /** What a request asks for, checked as far as it can be without a look at anything else. */
  readonly ask: (c: Exchange) => Promise<unknown>
  readonly scope: Scope
  /** Null for what is only read. */
  readonly subject: Subject | null
}

type VariablesOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Variable in Name]: string } & VariablesOf<Rest>
  : unknown

type Sendable = z.ZodObject<z.ZodRawShape, z.core.$strict>

type Nothing = z.ZodObject<Record<never, never>, z.core.$strict>

/** What is asked: the variables of the path, and the fields of the query or the body. */
type Asked<Path extends string, Sent extends Sendable> = VariablesOf<Path> & z.output<Sent>

/** What is checked against the schemas of a route. */
type Typed<Path extends string, Sent extends Sendable, Data extends z.ZodType> = {
  readonly path: Path
  readonly query?: Sent
  readonly body?: Sent
  readonly data: Data
  readonly command: RouteCommand<z.output<Data>>
  readonly form?: RouteForm<Asked<Path, Sent>, z.output<Data>>
  /** Rejects if the action needs something that is not there: before what was sent with it is read. */
  readonly needs?: (variables: VariablesOf<Path>, parts: OperatorParts) => Promise<unknown>
  readonly handler: (
    asked: Asked<Path, Sent>,
    parts: OperatorParts,
    who: Operator,
  ) => Promise<Answer<ValueOf<Data>>>
}

type Definition<Path extends string, Sent extends Sendable, Data extends z.ZodType> = Typed<
  Path,
  Sent,
  Data
> &
  Omit<OperatorRoute, keyof Typed<Path, Sent, Data> | 'method' | 'scope' | 'subject' | 'group' | 'ask'>

/** A route whose handler takes and answers what its schemas describe: the compiler checks it. */
export function operatorRoute<
  const Path extends string,
  Data extends z.ZodType,
  Sent extends Sendable = Nothing,
>(definition: Access & Definition<Path, Sent, Data>): OperatorRoute {
  const { query, body, isBodyOptional, needs, handler } = definition
  const ask = async (c: Exchange): Promise<Asked<Path, Sent>> => {
    const sent =
      query !== undefined
        ? parseRequest(query, c.get('query') ?? c.req.query())
        : body && parseRequest(body, await readJson(c, isBodyOptional))
    return { ...sent, ...c.req.param() } as Asked<Path, Sent> // the router has matched the variables
  }
  return {
    group: 'operator',
    scope: 'read',
    subject: null,
    ...getRoute({ example: { path: definition.path.replace('{client}', 'acme-capital') }, ...definition }),
    ask,
    handler: async (c, parts, who) => {
      await needs?.(c.req.param() as VariablesOf<Path>, parts) // as above
      return handler(await ask(c), parts, who)
    },
  }
}

/** An action on the client of the path: a POST, unless it says otherwise. */
export const clientAction = <
  const Path extends `/ops/clients/{client}${string}`,
  Data extends z.ZodType,
  Sent extends Sendable = Nothing,
>(
  definition: Definition<Path, Sent, Data> & { readonly method?: Exclude<Method, 'GET'> },
): OperatorRoute =>
  operatorRoute<Path, Data, Sent>({
    method: 'POST',
    ...definition,
    scope: 'clients',
    subject: { kind: 'client', field: 'client' },
  })

export type RouteField = ReturnType<typeof fieldsOf>[number]

/** The fields of a query or a body as its schema describes them: the options of a command, and the inputs of a form. */
export function fieldsOf(of: Query | z.ZodType | undefined) {
  if (!(of instanceof z.ZodObject)) return []
  const schema = z.toJSONSchema(of.clone().meta({}), { io: 'input' }) as JsonSchema // of an object
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).map(([name, field]) => {
    const { type, description = '', default: initial, format, enum: listed } = field
    return {
      ...{ name, description, initial, format, listed: listed?.map(String) },
      type: typeof type === 'string' ? type : 'string', // or several, one of which is null
      isRequired: required.includes(name),
    }
  })
}
