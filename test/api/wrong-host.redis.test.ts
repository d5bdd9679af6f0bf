// A Host that no address can have, sent to the services behind a key or a token.
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { listenOperator } from '#api/operator/app.ts'
import type { RunningServer } from '#api/service/http-server.ts'
import { listenSignals } from '#api/signals/app.ts'
import { atEnd } from '../support/ends.ts'
import { operatorParts, TOKEN } from '../support/signals/operator.ts'
import { addClient, seededBytes } from '../support/signals/signals.ts'
import { signalsParts } from '../support/signals/signals-app.ts'
import { redis, useRedis } from '../support/signals/test-redis.ts'

useRedis()

const statusOf = ({ url }: RunningServer, path: string, headers: Readonly<Record<string, string>>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const sent = request(url + path, { headers }, answer => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.once('error', reject)
    sent.end()
  })

let statuses: number[]
/** Writes the access log. */
const onAnswered = ({ status }: { readonly status: number }): void => void statuses.push(status)

async function openSignals() {
  const { token } = await addClient(redis, 'acme', ['alder'], seededBytes('keys'))
  const parts = { ...signalsParts(redis).parts, onAnswered }
  const running = await listenSignals(() => parts, '127.0.0.1', 0)
  return { running, path: '/v1/signals/history?since=0', caller: { 'x-api-key': token } }
}

async function openOperator() {
  const running = await listenOperator(operatorParts(redis, { onAnswered }), '127.0.0.1', 0)
  return { running, path: '/ops/signals', caller: { authorization: `Bearer ${TOKEN}` } }
}

test.each([
  ['the signals service', openSignals],
  ["the operator's interface", openOperator],
])('a Host that no address can have is refused by %s, and logged', async (_name, open) => {
  statuses = []
  const { running, path, caller } = await open()
  atEnd(() => running.close())
  expect(await statusOf(running, path, { ...caller })).toBe(200)
  for (const host of ['256.1.1.1', 'a.1', '99999999999'])
    expect([host, await statusOf(running, path, { ...caller, host })]).toEqual([host, 400])
  expect(statuses).toEqual([200, 400, 400, 400])
})
