// The examples of the OpenAPI documents: true answers, recorded by tests that ask again and compare. Where a change is
// meant, they rewrite them: UPDATE_GOLDEN=1 vitest run examples
import type { ErrorCode } from './errors.ts'
import type { Schema } from './openapi-schema.ts'

/** A recorded answer: the whole body, and the rows alone where the route has them as CSV. */
export type RecordedAnswer = { readonly json: unknown; readonly csv?: string }

/** A recorded refusal: what was asked, as the reader is told it, and the whole body. */
export type RecordedRefusal = { readonly request: string; readonly json: unknown }

/** What a test records of a service: an answer of every route that has an example, a refusal of every code. */
export type Recorded<Id extends string> = {
  readonly answers: { readonly [Name in Id]: RecordedAnswer }
  readonly refusals: { readonly [Code in ErrorCode]?: RecordedRefusal }
}

/** The example of a media type, by reference: twins of a route refer to the same one. */
export const exampleNamed = (name: string): Schema => ({ examples: { answer: toReference(name) } })

/** One example for each code that a status stands for. */
export const refusalExamples = (codes: readonly ErrorCode[]): Schema => ({
  examples: Object.fromEntries(codes.map(code => [code, toReference(refusalName(code))])),
})

/** The examples of refusals as components of a document. */
export const refusalComponents = (refusals: Recorded<never>['refusals']): Schema =>
  Object.fromEntries(
    Object.entries(refusals).map(([code, { request, json }]) => [
      refusalName(code),
      { summary: request, value: json },
    ]),
  )

const refusalName = (code: string): string => `refused_${code}`

const toReference = (name: string): Schema => ({ $ref: `#/components/examples/${name}` })
