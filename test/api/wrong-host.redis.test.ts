// A Host that no address can have, sent to the services behind a key or a token.
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { listenOperator } from '#api/operator/app.ts'
import type { RunningServer } from '#api/service/http-server.ts'
import { listenSignals } from '#api/signals/app.ts'
import { atEnd } from '../support/ends.ts'
import { open, statusesIn } from '../support/http/raw-server.ts'
import { operatorParts, TOKEN } from '../support/signals/operator.ts'
import { addClient, seededBytes } from '../support/signals/signals.ts'
import { signalsParts } from '../support/signals/signals-app.ts'
import { redis, useRedis } from '../support/signals/test-redis.ts'

useRedis()

/** The status of an answer to a request with a Host. */
const statusOf = async (server: RunningServer, path: string, headers: object, host = '127.0.0.1') => {
  const lines = Object.entries({ ...headers, host, connection: 'close' }).map(pair => pair.join(': '))
  return statusesIn(await text(open(server, [`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'))))[0]
}

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
])('a Host that no address can have is refused by %s, and logged', async (_name, start) => {
  statuses = []
  const { running, path, caller } = await start()
  atEnd(() => running.close())
  expect(await statusOf(running, path, caller)).toBe('200')
  for (const host of ['256.1.1.1', 'a.1', '99999999999'])
    expect([host, await statusOf(running, path, caller, host)]).toEqual([host, '400'])
  expect(statuses).toEqual([200, 400, 400, 400])
})
