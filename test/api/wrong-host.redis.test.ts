// A Host that no address can have, sent to the services behind a key or a token.
import { request } from 'node:http'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { RunningServer } from '#api/http/http-server.ts'
import { listenOperator } from '#api/operator/app.ts'
import { listenSignals } from '#api/signals/app.ts'
import { startTestRedis, type TestRedis } from '../support/servers/redis.ts'
import { operatorParts, TOKEN } from '../support/signals/operator.ts'
import { addClient, seededBytes } from '../support/signals/signals.ts'
import { signalsParts } from '../support/signals/signals-app.ts'

let server: TestRedis
let redis: Redis

beforeAll(async () => {
  server = await startTestRedis()
  redis = await server.connect()
})
afterAll(() => server.stop())

const statusOf = ({ url }: RunningServer, path: string, headers: Readonly<Record<string, string>>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const sent = request(url + path, { headers }, answer => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.once('error', reject)
    sent.end()
  })

async function expectRefused(running: RunningServer, path: string, caller: Record<string, string>) {
  onTestFinished(() => running.close())
  expect(await statusOf(running, path, caller)).toBe(200)
  for (const host of ['256.1.1.1', 'a.1', '99999999999'])
    expect([host, await statusOf(running, path, { ...caller, host })]).toEqual([host, 400])
}

test('it is refused by the signals service', async () => {
  const { token } = await addClient(redis, 'acme', ['alder'], seededBytes('keys'))
  const running = await listenSignals(() => signalsParts(redis).parts, '127.0.0.1', 0)
  await expectRefused(running, '/v1/signals/history?since=0', { 'x-api-key': token })
})

test("it is refused by the operator's interface", async () => {
  const running = await listenOperator(operatorParts(redis), '127.0.0.1', 0)
  await expectRefused(running, '/ops/signals', { authorization: `Bearer ${TOKEN}` })
})
