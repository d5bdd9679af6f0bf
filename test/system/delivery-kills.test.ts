// Processes that deliver are killed at moments that a seed decides, twice, in the middle of requests: everybody gets
// everything all the same, and nothing that was never fired.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readLedger } from '#signals/delivery/ledger.ts'
import { RELAY_LEASE } from '#signals/redis/keys.ts'
import { addSubscriber, startReceiver, until } from '../setup/delivery.ts'
import { startTestRedis, type TestRedis } from '../setup/redis.ts'
import { fire, seededBytes } from '../setup/signals.ts'

const PROGRAM = join(import.meta.dirname, '../setup/delivery-process.worker.ts')

const SEEDS = 24
const SIGNALS = 6
const CLIENTS = ['ash', 'birch', 'cedar', 'elm']

let server: TestRedis
let redis: Redis

beforeAll(async () => {
  server = await startTestRedis()
  redis = await server.connect()
})
beforeEach(() => redis.flushall())
afterAll(() => server.stop())

async function startProcess(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROGRAM, server.url], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

async function isAllDelivered(): Promise<boolean> {
  for (let seq = 1; seq <= SIGNALS; seq++) {
    const ledger = await readLedger(redis, seq)
    if (CLIENTS.some(client => ledger.get(client)?.status !== 'delivered')) return false
  }
  return true
}

describe('killed twice in the middle of requests', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    test(`seed ${seed}: every signal arrives at every client, and none that was not fired`, async () => {
      const dice = seededBytes(`kills ${seed}`)
      // At which request each of the two processes dies, before or after the receiver has answered.
      const deaths = [0, 1].map(() => ({ request: 1 + (dice(1)[0]! % 8), isAnswered: dice(1)[0]! % 2 === 0 }))
      let requests = 0
      let onRequest = (): void => {}
      const receiver = await startReceiver((_, response) => {
        requests++
        const [death] = deaths
        const isLast = death !== undefined && requests === death.request
        if (!isLast || death.isAnswered) response.end()
        onRequest()
      })
      for (const client of CLIENTS) await addSubscriber(redis, client, receiver.urlOf(client))
      for (let i = 0; i < SIGNALS / 2; i++) await fire(redis, `a${i}`, 'alder')
      for (let fired = false; deaths.length > 0; deaths.shift()) {
        requests = 0
        const child = await startProcess()
        const [death] = deaths
        if (!fired) for (let i = 0; i < SIGNALS / 2; i++) await fire(redis, `b${i}`, 'alder')
        fired = true
        await new Promise<void>(resolve => {
          onRequest = () => requests >= death!.request && resolve() // there is one as long as the loop runs
          onRequest()
          void until(isAllDelivered).then(resolve) // fewer requests than that were left
        })
        await end(child, 'SIGKILL')
        await redis.del(RELAY_LEASE) // as its expiry does
      }
      const last = await startProcess()
      await until(isAllDelivered)
      await end(last, 'SIGTERM')
      await receiver.close()

      for (const client of CLIENTS) {
        const seqs = new Set(receiver.of(client))
        expect([...seqs].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6])
      }
      expect(new Set(receiver.received.map(({ client }) => client))).toEqual(new Set(CLIENTS))
    })
  }
})
