// The answers that never reach the app: the same status, headers and bytes as the app's, and nothing that it would refuse.
import { get, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Answered } from '#api/history/answered.ts'
import { createHistoryApp } from '#api/history/app.ts'
import type { HistoryParts } from '#api/history/exchange.ts'
import { createQuickAnswers } from '#api/history/quick-answers.ts'
import { errorAnswer } from '#api/http/error-answer.ts'
import { type RunningServer, startServer } from '#api/http/http-server.ts'
import { DEFAULT_DISCLAIMER, register } from '#core/contract/register.ts'
import { ALLOWED_ORIGIN, openHistoryParts } from '../../support/history/history-app.ts'

let parts: HistoryParts
let answers: readonly Answered[]
let quick: RunningServer
let plain: RunningServer
let atOnce = 0

beforeAll(async () => {
  ;({ parts, answers } = await openHistoryParts(inject('tinyStore')))
  const { fetch } = createHistoryApp(parts)
  const meta = register({ version: null, disclaimer: DEFAULT_DISCLAIMER }, null, null)
  const app = { fetch, answerError: (error: Parameters<typeof errorAnswer>[0]) => errorAnswer(error, meta) }
  const answer = createQuickAnswers(parts)
  const counted: typeof answer = request => {
    const found = answer(request)
    if (found !== null) atOnce++
    return found
  }
  plain = await startServer(() => app, '127.0.0.1', 0)
  quick = await startServer(() => ({ ...app, atOnce: { answer: counted, now: Date.now } }), '127.0.0.1', 0)
})

afterAll(() => Promise.all([quick.close(), plain.close()]))

const asked = (
  server: RunningServer,
  path: string,
  headers: Readonly<Record<string, string>>,
  method = 'GET',
) =>
  new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: Buffer }>(
    (resolve, reject) => {
      const request = get(server.url + path, { method, headers, agent: false }, answer => {
        buffer(answer).then(
          body => resolve({ status: answer.statusCode, headers: answer.headers, body }),
          reject,
        )
      })
      request.once('error', reject)
    },
  )

/** What both servers answer, and whether the app was left out. The first question brings the answer into memory. */
async function both(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  const wanted = await asked(plain, path, headers, method)
  const before = atOnce
  const got = await asked(quick, path, headers, method)
  const { date: _date, ...rest } = got.headers
  const { date: _itsDate, ...itsRest } = wanted.headers
  expect({ ...got, headers: rest }).toEqual({ ...wanted, headers: itsRest })
  const [told, itsTold] = [answers.at(-1), answers.at(-2)] // of a refusal below the app neither tells anything
  if (got.status !== 400) expect(told).toEqual(itsTold)
  return { isAtOnce: atOnce > before, ...got }
}

describe('an answer in memory under its canonical address', () => {
  test('is the one of the app to the last header, in every coding, and is given without it', async () => {
    for (const path of parts.source.current()!.artifacts.keys()) {
      for (const coding of ['br', 'gzip', 'br;q=0.5, gzip', 'identity']) {
        expect((await both(path, { 'accept-encoding': coding })).isAtOnce).toBe(true)
      }
    }
  })

  test('is a 304 to who has it, and whole to who has another', async () => {
    const path = '/v1/strategies/ash/curve'
    const { headers } = await both(path, { 'accept-encoding': 'br' })
    const known = await both(path, { 'accept-encoding': 'br', 'if-none-match': String(headers.etag) })
    expect(known).toMatchObject({ isAtOnce: true, status: 304 })
    const other = await both(path, { 'accept-encoding': 'br', 'if-none-match': '"other"' })
    expect(other).toMatchObject({ isAtOnce: true, status: 200 })
  })

  test('is given without the app, too, where it was computed for somebody before', async () => {
    const path = '/v1/strategies/ash/curve?risk_pct=0.013'
    for (const coding of ['zstd', 'br', 'identity']) {
      expect((await both(path, { 'accept-encoding': coding })).isAtOnce).toBe(true)
    }
  })
})

describe('the app is asked', () => {
  const PATH = '/v1/strategies/ash/curve'
  test.each([
    ['by another method', PATH, {}, 'HEAD'],
    ['from a page of another origin', PATH, { origin: ALLOWED_ORIGIN }, 'GET'],
    ['by who accepts deltas', PATH, { 'accept-encoding': 'dcz, br' }, 'GET'],
    ['for a Host that is none', PATH, { host: 'a b' }, 'GET'],
    ['with a body', PATH, { 'content-length': '0' }, 'GET'],
    ['under another spelling', `${PATH}?format=json`, {}, 'GET'],
    ['under a pinned address', '/v1/dataset?dataset_version=2025-02-24T00:15:00Z', {}, 'GET'],
    ['for what is not there', '/v1/strategies/nobody', {}, 'GET'],
  ])('%s', async (_why, path, headers, method) => {
    expect((await both(path, headers, method)).isAtOnce).toBe(false)
  })
})
