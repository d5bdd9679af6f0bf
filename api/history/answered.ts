/**
 * Where an answer came from: a published file, a computation, the client itself, nowhere, or the process. One that was
 * made while it was sent, and broke off, is `cut`, whoever broke it off.
 */
export type AnswerKind = 'static' | 'computed' | 'cut' | '304' | 'refused' | 'live'

/** What is told of an answer: routes, names and numbers, and never an address or a query. */
export type Answered = {
  readonly request_id: string
  readonly method: string
  /** The template of the route; UNROUTED if no route matched. */
  readonly route: string
  readonly kind: AnswerKind
  /** The version that answered, null where none did. */
  readonly version: string | null
  readonly status: number
  /** Until the answer was ready to be sent. */
  readonly ms: number
  /** Of the body, as far as it was sent. */
  readonly bytes: number
}

/** The route of a path that is none. */
export const UNROUTED = 'none'
