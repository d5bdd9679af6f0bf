/** Where an answer came from: a published file, a computation, the client itself, nowhere, or the process. */
export type AnswerKind = 'static' | 'computed' | '304' | 'refused' | 'live'

/** What is told of an answer: routes, names and numbers, and never an address or a query. */
export type Answered = {
  readonly request_id: string
  readonly method: string
  /** The template of the route; UNROUTED and UNPARSED are none of the table. */
  readonly route: string
  readonly kind: AnswerKind
  /** The version that answered, null where none did. */
  readonly version: string | null
  readonly status: number
  /** Until the answer was ready to be sent. */
  readonly ms: number
  /** Of the body. */
  readonly bytes: number
}

/** The route of a path that is none. */
export const UNROUTED = 'none'

/** The route of what is no request of HTTP, or came without end. */
export const UNPARSED = 'unparsed'
