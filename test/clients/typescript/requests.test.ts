// What the client does with answers that a test writes: trying again, giving up, aborting, and what it keeps.
import { expect, test } from 'vitest'
import { type ClientOptions, createTransport } from '../../../clients/typescript/src/requests.ts'
import { rejection } from './watched-service.ts'

const REFUSAL = JSON.stringify({ error: { code: 'overloaded', message: 'busy', details: null }, meta: {} })

const refusal = (status: number, headers: Record<string, string>, body = REFUSAL) =>
  new Response(body, { status, headers })

/** Reads from answers that are given in turn, the last one again and again. */
function script(answers: readonly ((path: string) => Response)[], options: ClientOptions = {}) {
  const sent: { readonly url: string; readonly init: RequestInit }[] = []
  const fetch = async (url: string, init: RequestInit) => {
    init.signal?.throwIfAborted()
    sent.push({ url, init })
    return answers[Math.min(sent.length, answers.length) - 1]!(url)
  }
  return { sent, read: createTransport('http://service.test/base/', { fetch, ...options }, 'history').read }
}

test('the client refuses what is no address of a service before any request', () => {
  for (const address of ['', '127.0.0.1:80', 'http://', 'http://a.test/v1/'])
    expect(() => createTransport(address, {}, 'history')).toThrow(
      `without /v1, as https://a.example, got '${address}'`,
    )
})

const fine = () => Response.json({ data: 1 })

test.each([
  [429, '0'],
  [503, '0'],
  [503, new Date(0).toUTCString()],
])('the client asks again a busy service that answers %d and Retry-After %s', async (status, after) => {
  const { read, sent } = script([() => refusal(status, { 'retry-after': after }), fine])
  expect(await read('/v1/summary')).toEqual({ data: 1 })
  expect(sent.map(({ url }) => url)).toEqual(new Array(2).fill('http://service.test/base/v1/summary'))
})

test.each([
  [503, '0', 'as often as it may and no more', 3],
  [503, '31', 'once, because the wait would be longer than allowed', 1],
  [500, '0', 'once, because it is not busy', 1],
])('the client asks a service that answers %d and Retry-After %s %s', async (status, after, _how, times) => {
  const { read, sent } = script([() => refusal(status, { 'retry-after': after })], { attempts: 3 })
  expect(await rejection(read('/'))).toMatchObject({ code: 'overloaded', status, message: 'busy' })
  expect(sent).toHaveLength(times)
})

test('an abort ends the wait for another attempt with its reason', async () => {
  const controller = new AbortController()
  const { read, sent } = script([() => refusal(503, { 'retry-after': '30' })])
  const failed = rejection(read('/', { signal: controller.signal }))
  await expect.poll(() => sent.length).toBe(1)
  controller.abort(new Error('the user left'))
  expect(await failed).toMatchObject({ message: 'the user left' })
  expect(sent).toHaveLength(1)
})

test('an abort while the answer is read ends the wait before it begins', async () => {
  const controller = new AbortController()
  const { read } = script([
    () => {
      controller.abort(new Error('the user left'))
      return refusal(503, { 'retry-after': '30' })
    },
  ])
  expect(await rejection(read('/', { signal: controller.signal }))).toMatchObject({
    message: 'the user left',
  })
})

test('an abort reaches the fetch of the client', async () => {
  const { read, sent } = script([fine])
  expect(await rejection(read('/', { signal: AbortSignal.abort() }))).toMatchObject({ name: 'AbortError' })
  expect(sent).toEqual([])
})

/** An answer of 100 characters, which is revalidated. */
const tagged = (url: string) => {
  const body = JSON.stringify(url).padEnd(100)
  return new Response(body, { headers: { etag: `"${url}"` } })
}

/** The paths of which the client had a copy when it read them. */
async function knownOf(paths: readonly string[], cachedCharacters: number) {
  const { read, sent } = script([tagged], { cachedCharacters })
  for (const path of paths) await read(path)
  return sent.flatMap(({ init }, i) =>
    new Headers(init.headers).has('if-none-match') ? [`${i} ${paths[i]}`] : [],
  )
}

test('the cache of the client drops the answer that was used least recently', async () => {
  expect(await knownOf(['/a', '/b', '/a', '/c', '/a', '/b'], 250)).toEqual(['2 /a', '4 /a'])
})

test('the cache of the client keeps no answer that is larger than it, and nothing if it is turned off', async () => {
  expect(await knownOf(['/a', '/a'], 99)).toEqual([])
  expect(await knownOf(['/a', '/a'], 0)).toEqual([])
  expect(await knownOf(['/a', '/a'], 100)).toEqual(['1 /a'])
})
