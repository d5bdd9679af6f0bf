// A Host that no address can have, sent to the services behind a key or a token.
import { request } from 'node:http'
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import type { RunningServer } from '#api/http/http-server.ts'
import { listenOperator } from '#api/operator/app.ts'
import { listenSignals } from '#api/signals/app.ts'
import { atEnd } from '../support/ends.ts'
import { useTestRedis } from '../support/servers/use-redis.ts'
import { operatorParts, TOKEN } from '../support/signals/operator.ts'
import { addClient, seededBytes } from '../support/signals/signals.ts'
import { signalsParts } from '../support/signals/signals-app.ts'

let redis: Redis
useTestRedis(connected => {
  redis = connected
})

const statusOf = ({ url }: RunningServer, path: string, headers: Readonly<Record<string, string>>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const sent = request(url + path, { headers }, answer => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.once('error', reject)
    sent.end()
  })

/** What the access log has. */
function recorder() {
  const statuses: number[] = []
  return { statuses, onAnswered: ({ status }: { readonly status: number }) => void statuses.push(status) }
}

async function expectRefused(
  running: RunningServer,
  path: string,
  caller: Record<string, string>,
  statuses: readonly number[],
) {
  atEnd(() => running.close())
  expect(await statusOf(running, path, caller)).toBe(200)
  for (const host of ['256.1.1.1', 'a.1', '99999999999'])
    expect([host, await statusOf(running, path, { ...caller, host })]).toEqual([host, 400])
  expect(statuses).toEqual([200, 400, 400, 400])
}

test('a Host that no address can have is refused by the signals service', async () => {
  const { statuses, onAnswered } = recorder()
  const { token } = await addClient(redis, 'acme', ['alder'], seededBytes('keys'))
  const running = await listenSignals(() => ({ ...signalsParts(redis).parts, onAnswered }), '127.0.0.1', 0)
  await expectRefused(running, '/v1/signals/history?since=0', { 'x-api-key': token }, statuses)
})

test("a Host that no address can have is refused by the operator's interface", async () => {
  const { statuses, onAnswered } = recorder()
  const running = await listenOperator(operatorParts(redis, { onAnswered }), '127.0.0.1', 0)
  await expectRefused(running, '/ops/signals', { authorization: `Bearer ${TOKEN}` }, statuses)
})
