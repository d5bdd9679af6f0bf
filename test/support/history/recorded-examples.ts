// What the tests of the examples share: how an answer is recorded, and what a document must do with its examples.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { z } from 'zod'
import { type ErrorCode, STATUS_OF } from '#core/contract/errors.ts'
import { asCsv, type Recorded } from '#core/contract/openapi.ts'
import { dataSchema, type Example, type Route } from '#core/contract/route.ts'
import type { RandomBytes } from '#signals/clients/token.ts'
import { undescribedFields } from '../../api/history/described.ts'
import type { OpenApi } from '../http/openapi-documents.ts'

/** More than an address may be long. */
const TOO_LONG = 8_192

/** A request such as `GET /healthz`, taken apart; `...` in it is more than an address may be long. */
export function partsOf(request: string): { readonly method: string; readonly path: string } {
  const [method = '', path = ''] = request.split(' ')
  return { method, path: path.replace('...', '0'.repeat(TOO_LONG)) }
}

type Exampled = Pick<Route, 'id' | 'method' | 'example'>

/** The example of a route, which each must have. */
export function exampleOf({ id, example }: Exampled): Example {
  if (example === undefined) throw new Error(`the route '${id}' has no example`)
  return example
}

/** What a test was answered, in the form in which it is recorded. */
export type Answers = Recorded

type Asking = (method: string, path: string, body: unknown) => Promise<{ status: number; text: string }>

/** What routes answer to their examples, in turn, and as CSV too if they have that; each with the first of its statuses. */
export async function answersTo(routes: readonly Route[], ask: Asking): Promise<Answers['answers']> {
  const found: Record<string, Answers['answers'][string]> = {}
  for (const route of routes) {
    const { id, method, statuses = [200], formats = [] } = route
    const { path, body } = exampleOf(route)
    const { status, text } = await ask(method, path, body)
    expect([id, status, text]).toEqual([id, statuses[0], text])
    const csv = formats.includes('csv') ? { csv: (await ask(method, asCsv(path), body)).text } : {}
    found[id] = { json: JSON.parse(text), ...csv }
  }
  return found
}

/** Writes a recording where that is asked for; the running modules keep what they have loaded, so the next run compares. */
export function recordIfAsked(file: string, answers: Answers): void {
  if (process.env.UPDATE_GOLDEN !== '1') return
  writeFileSync(
    join(import.meta.dirname, '../../../core/contract', file),
    `${JSON.stringify({ answers: answers.answers, refusals: answers.refusals })}\n`,
  )
}

/**
 * The examples of a document are what was answered or refused, and there is no other one; every answer and every refusal that it
 * describes has its own, but for answers of the paths left out.
 */
export function assertRecorded(
  document: OpenApi,
  answers: Answers,
  routes: readonly Exampled[],
  leftOut: readonly string[] = [],
): void {
  expect(document.components.examples).toEqual(componentsOf(answers, routes))
  assertAnswersShown(document, leftOut)
  assertRefusalsShown(document)
}

/** The components that a recording makes of the answers of routes. */
function componentsOf({ answers, refusals }: Answers, routes: readonly Exampled[]) {
  const answered = Object.entries(answers).flatMap(([name, { json, csv }]) => {
    const route = routes.find(({ id }) => id === name)!
    const { path } = exampleOf(route)
    const plain = [name, { summary: `${route.method} ${path}`, value: json }] as const
    if (csv === undefined) return [plain]
    return [plain, [`${name}_csv`, { summary: `${route.method} ${asCsv(path)}`, value: csv }] as const]
  })
  const refused = Object.entries(refusals).map(
    ([code, { request, json }]) => [`refused_${code}`, { summary: request, value: json }] as const,
  )
  return Object.fromEntries([...answered, ...refused])
}

/** Every media type of a response, and the examples of it. */
const shownIn = ({ paths }: OpenApi) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods)
      .flatMap(({ responses }) => Object.entries(responses))
      .flatMap(([status, { description, content = {} }]) =>
        Object.entries(content).map(([type, { examples = {} }]) => ({
          ...{ path, description, type, examples },
          status: Number(status),
        })),
      ),
  )

/** Every refusal that a document describes has one example for each of its codes, in which that code stands. */
function assertRefusalsShown(document: OpenApi): void {
  for (const { status, description, examples } of shownIn(document)) {
    if (status < 400) continue
    const codes = description.replaceAll(/^Refused: |\.$/g, '').split(', ')
    expect(Object.keys(examples)).toEqual(codes)
    for (const code of codes) {
      expect(examples[code]).toEqual({ $ref: `#/components/examples/refused_${code}` })
      expect(document.components.examples[`refused_${code}`]?.value).toMatchObject({ error: { code } })
      expect(STATUS_OF[code as ErrorCode]).toBe(status) // the codes of the closed table
    }
  }
}

/**
 * Every answer as JSON or CSV has its example, but for those of the paths left out, and for objects of the store, which
 * have no schema; and every example is used by a document.
 */
function assertAnswersShown(document: OpenApi, leftOut: readonly string[]): void {
  const all = shownIn(document)
  for (const { path, status, type, examples } of all) {
    if (status >= 400) continue
    const names = /json|csv/.test(type) && !leftOut.includes(path) ? ['answer'] : []
    expect([path, type, Object.keys(examples)]).toEqual([path, type, names])
  }
  const shown = all.flatMap(({ examples }) => Object.values(examples).map(({ $ref }) => $ref))
  const known = Object.keys(document.components.examples).map(name => `#/components/examples/${name}`)
  expect([...new Set(shown)].toSorted()).toEqual(known.toSorted())
}

/** The example of a route is of its schema, and what is sent beside it is its own. Returns what is described of the route. */
export function assertExample(
  document: OpenApi,
  route: Route & { readonly isBare?: boolean },
): OpenApi['paths'][string][string] {
  const value = document.components.examples[route.id]?.value
  const shown = route.isBare ? value : z.looseObject({ data: z.unknown() }).parse(value).data
  expect(dataSchema(route).safeParse(shown).error).toBeUndefined()
  if (route.id !== 'schema') expect(undescribedFields(dataSchema(route), shown)).toEqual([]) // that one is a schema itself
  const described = document.paths[route.path]![route.method.toLowerCase()]!
  const sent = Object.values(described.requestBody?.content['application/json']?.examples ?? {})
  expect(sent.map(each => each.value)).toEqual(route.body === undefined ? [] : [exampleOf(route).body])
  return described
}

/** Bytes that base64 prints as this word, whatever is asked for: a webhook secret takes 43 letters. */
export const base64Bytes =
  (word: string): RandomBytes =>
  () =>
    Buffer.from(word, 'base64')

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Bytes that an API key prints as these words: the shorter of them as its id of 8 letters, the other as its secret of 43. */
export const base62Bytes =
  (id: string, secret: string): RandomBytes =>
  size => {
    let value = 0n
    for (const digit of size < 8 ? id : secret) value = value * 62n + BigInt(DIGITS.indexOf(digit))
    return Buffer.from(value.toString(16).padStart(2 * size, '0'), 'hex')
  }
