// Both example receivers, driven over the wire as the service drives them: every signal once, in its order.

import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { selfTestCases } from '#signals/delivery/self-test/cases.ts'
import { runCases } from '#signals/delivery/self-test/run-cases.ts'
import { commit } from '#signals/log/commit.ts'
import { EPOCH, HEAD } from '#signals/redis/keys.ts'
import type { TestRedis } from '../../support/servers/redis.ts'
import { useOwnRedis } from '../../support/servers/use-redis.ts'
import { rawAnswer, startRawReceiver } from '../../support/signals/raw-receiver.ts'
import {
  copyKit,
  expectTraded,
  KITS,
  OTHER_SECRET,
  type PullService,
  push,
  type Receiver,
  SECRET,
  settled,
  startPullService,
  startReceiver,
  whyNot,
} from '../../support/signals/receiver-kit.ts'
import { createTestSender } from '../../support/signals/sender.ts'
import { fire, NOW_MS, signalContent } from '../../support/signals/signals.ts'

let server: TestRedis
let redis: Redis
let service: PullService

useOwnRedis((connected, started) => {
  redis = connected
  server = started
})
beforeEach(async () => {
  service = await startPullService(redis)
})
afterEach(() => service.close())

/** Signals `from` to `to`, all of which the client sees. */
async function fireUpTo(from: number, to: number): Promise<void> {
  for (let seq = from; seq <= to; seq++) expect(await fire(redis, `s${seq}`, 'alder')).toBe(seq)
}

/** Often enough that a test need not wait, seldom enough that the pull does not do the work of the push. */
const PULL_OFTEN = { PULL_SECONDS: '0.2' }

describe.each(KITS)('the $name receiver', kit => {
  const reason = whyNot(kit)
  beforeEach(context => {
    if (reason !== null) context.skip(reason)
  })

  /** A receiver that has begun, at the end of an empty log, and whose first pull is over. */
  async function begin(env: Record<string, string> = {}): Promise<{ receiver: Receiver; folder: string }> {
    const folder = await copyKit(kit)
    const receiver = await startReceiver(kit, folder, service, env)
    await receiver.prints(/everything after #0 is read/)
    await settled(redis, receiver)
    return { receiver, folder }
  }

  const end = async (receiver: Receiver) => {
    receiver.kill('SIGTERM')
    expect(await receiver.ended).toMatchObject({ code: 0, stderr: '' })
  }

  test('trades what is pushed, once each however often it comes', async () => {
    const { receiver } = await begin()
    await fireUpTo(1, 3)
    for (const seq of [1, 1, 2, 1, 2, 3]) expect(await push(redis, receiver.url, seq)).toBe(200)
    await expectTraded(receiver, [1, 2, 3])
    expect(await push(redis, receiver.url, 3)).toBe(200)
    await fireUpTo(4, 4)
    await push(redis, receiver.url, 4)
    await expectTraded(receiver, [1, 2, 3, 4])
    await end(receiver)
  })

  test('puts pushes that overtake one another into their order', async () => {
    const { receiver } = await begin()
    await fireUpTo(1, 3)
    for (const seq of [3, 1, 2]) expect(await push(redis, receiver.url, seq)).toBe(200)
    await expectTraded(receiver, [1, 2, 3])
    await end(receiver)
  })

  test('closes a gap by one pull, also where the client was never sent the numbers between', async () => {
    const { receiver } = await begin()
    await fireUpTo(1, 1)
    await fire(redis, 'foreign', 'birch')
    for (const seq of [3, 4, 5]) await fire(redis, `s${seq}`, 'alder')
    await push(redis, receiver.url, 1)
    await push(redis, receiver.url, 5, { prev: 4 })
    await expectTraded(receiver, [1, 3, 4, 5])
    await end(receiver)
  })

  test('asks for what it may have missed where a push does not say what came before it', async () => {
    const { receiver } = await begin()
    await fireUpTo(1, 2)
    const status = await push(redis, receiver.url, 2, {
      headers: ({ 'x-prev-seq': _gone, ...headers }) => headers,
    })
    expect(status).toBe(200)
    await expectTraded(receiver, [1, 2])
    await end(receiver)
  })

  test('killed, does what it missed exactly once and in order when it is started again', async () => {
    const { receiver, folder } = await begin()
    await fireUpTo(1, 2)
    for (const seq of [1, 2]) await push(redis, receiver.url, seq)
    await expectTraded(receiver, [1, 2])
    await settled(redis, receiver)
    receiver.kill('SIGKILL')
    await receiver.ended
    await fireUpTo(3, 5)
    const again = await startReceiver(kit, folder, service)
    await expectTraded(again, [3, 4, 5])
    for (const seq of [3, 4, 5]) expect(await push(redis, again.url, seq)).toBe(200)
    await fireUpTo(6, 6)
    await push(redis, again.url, 6)
    await expectTraded(again, [3, 4, 5, 6])
    await end(again)
  })

  test('reads a long absence page by page', async () => {
    const { receiver, folder } = await begin()
    await end(receiver)
    const count = 501 // more than the 500 of a page
    const signals = Array.from({ length: count }, (_, i) => ({
      content: signalContent(`s${i}`),
      onlyFor: null,
    }))
    await commit(redis, signals, NOW_MS)
    const again = await startReceiver(kit, folder, service)
    await expectTraded(
      again,
      Array.from({ length: count }, (_, i) => i + 1),
    )
    await end(again)
  })

  test('begins with what is fired after its first start', async () => {
    await fireUpTo(1, 3)
    const receiver = await startReceiver(kit, await copyKit(kit), service)
    await receiver.prints(/everything after #3 is read/)
    await settled(redis, receiver)
    await fireUpTo(4, 4)
    expect(await push(redis, receiver.url, 2)).toBe(200)
    await push(redis, receiver.url, 4)
    await expectTraded(receiver, [4])
    await end(receiver)
  })

  test('acknowledges tests and dry runs, and trades neither', async () => {
    const { receiver } = await begin()
    await fire(redis, 'test', 'alder', 'acme')
    await commit(redis, [{ content: signalContent('dry', { mode: 'DRY_RUN' }), onlyFor: null }], NOW_MS)
    await commit(redis, [{ content: signalContent('odd', { is_test: true }), onlyFor: null }], NOW_MS)
    await fire(redis, 's4', 'alder')
    for (const seq of [1, 2, 3, 4]) expect(await push(redis, receiver.url, seq)).toBe(200)
    await expectTraded(receiver, [4])
    expect(receiver.printed()).toMatch(
      /skipped #1, a test[\s\S]*skipped #2, DRY_RUN[\s\S]*skipped #3, a test/,
    )
    expect(receiver.printed().match(/^skipped #[1-3],/gm)).toHaveLength(3) // by the push or by the pull, and not by both
    await end(receiver)
  })

  test('is not moved by a test whose number the log does not have', async () => {
    const { receiver } = await begin()
    const body = new TextEncoder().encode(
      JSON.stringify({ ...signalContent('x', { is_test: true }), seq: 900 }),
    )
    expect(await push(redis, receiver.url, 900, { body, prev: 0 })).toBe(200)
    await fireUpTo(1, 1)
    await push(redis, receiver.url, 1)
    await expectTraded(receiver, [1])
    await end(receiver)
  })

  test('takes either of two secrets, and no third', async () => {
    const { receiver } = await begin({ WEBHOOK_SECRET: OTHER_SECRET, WEBHOOK_SECRET_OLD: SECRET })
    await fireUpTo(1, 2)
    expect(await push(redis, receiver.url, 1, { secrets: [SECRET] })).toBe(200)
    expect(await push(redis, receiver.url, 2, { secrets: [OTHER_SECRET, SECRET] })).toBe(200)
    expect(await push(redis, receiver.url, 2, { secrets: [`whsec_${btoa('a'.repeat(32))}`] })).toBe(401)
    await expectTraded(receiver, [1, 2])
    await end(receiver)
  })

  test('refuses whatever is not signed as it stands', async () => {
    const { receiver } = await begin()
    await fireUpTo(1, 1)
    const half = (value = '') => value.slice(0, value.length / 2)
    const refused = [
      await push(redis, receiver.url, 1, { tamper: body => body.with(body.indexOf(0x35), 0x36) }),
      await push(redis, receiver.url, 1, { headers: ({ 'x-signature': _gone, ...headers }) => headers }),
      await push(redis, receiver.url, 1, {
        headers: all => ({ ...all, 'x-signature': half(all['x-signature']) }),
      }),
      await push(redis, receiver.url, 1, { headers: all => ({ ...all, 'x-signature': 'sha256=é' }) }),
      await push(redis, receiver.url, 1, { headers: all => ({ ...all, 'x-signature': '' }) }),
    ]
    expect(refused).toEqual([401, 401, 401, 401, 401])
    const bodyOf = (text: string) => new TextEncoder().encode(text)
    expect(await push(redis, receiver.url, 1, { body: bodyOf('{"seq":') })).toBe(400)
    expect(await push(redis, receiver.url, 1, { body: bodyOf('[1]') })).toBe(400)
    expect(await push(redis, receiver.url, 1, { body: bodyOf('null') })).toBe(400)
    expect(await push(redis, receiver.url, 1, { body: new Uint8Array(64 * 1024 + 1) })).toBe(413)
    expect(await push(redis, receiver.url, 1)).toBe(200)
    await expectTraded(receiver, [1])
    await end(receiver)
  })

  test('verifies the form of Standard Webhooks where it is asked to, within five minutes', async () => {
    const { receiver } = await begin({ SIGNATURE: 'standard-webhooks' })
    await fireUpTo(1, 2)
    const { url } = receiver
    expect(await push(redis, url, 1, { sentAtMs: Date.now() - 360_000 })).toBe(401)
    expect(await push(redis, url, 1, { sentAtMs: Date.now() + 360_000 })).toBe(401)
    expect(await push(redis, url, 1, { headers: all => ({ ...all, 'webhook-id': 'another' }) })).toBe(401)
    expect(
      await push(redis, url, 1, { headers: all => ({ ...all, 'webhook-timestamp': '9'.repeat(9_000) }) }),
    ).toBe(401)
    expect(await push(redis, url, 1, { secrets: [OTHER_SECRET] })).toBe(401)
    expect(
      await push(redis, url, 1, { secrets: [OTHER_SECRET, SECRET], sentAtMs: Date.now() - 240_000 }),
    ).toBe(200)
    expect(await push(redis, url, 2)).toBe(200)
    await expectTraded(receiver, [1, 2])
    await end(receiver)
  })

  test('reads everything again when the log came back from a copy, and trades only what is new', async () => {
    const { receiver } = await begin(PULL_OFTEN)
    await fireUpTo(1, 3)
    await expectTraded(receiver, [1, 2, 3])
    // The copy knows two signals; the third is fired again, under a number above every one that was delivered.
    await service.restart(async () => {
      await redis.flushall()
      await fireUpTo(1, 2)
      await redis.hset(HEAD, 'seq', 100)
      await redis.set(EPOCH, 'second-epoch')
      for (const id of ['s3', 's4']) await fire(redis, id, 'alder')
    })
    await receiver.prints(/the log is second-epoch: everything after #0 is read/)
    await expectTraded(receiver, [1, 2, 3, 102])
    receiver.kill('SIGTERM')
    expect((await receiver.ended).code).toBe(0)
  })

  test('says why a pull fails, and does what was pushed meanwhile when the service is back', async () => {
    const { receiver } = await begin(PULL_OFTEN)
    await fireUpTo(1, 2)
    await server.kill()
    await receiver.prints(/not finished, the next pull tries again: .*503/)
    await server.restart()
    await expectTraded(receiver, [1, 2])
    receiver.kill('SIGTERM')
    expect((await receiver.ended).code).toBe(0)
  })

  test('offers a signal again that trade() failed for, before those behind it', async () => {
    const folder = await copyKit(kit, code => code.replace(kit.tradeLine, line => kit.failingOnce + line))
    const receiver = await startReceiver(kit, folder, service)
    await receiver.prints(/everything after #0 is read/)
    await settled(redis, receiver)
    await fireUpTo(1, 2)
    await push(redis, receiver.url, 1)
    await receiver.prints(/not finished, .*the venue is closed/)
    await push(redis, receiver.url, 2)
    await expectTraded(receiver, [1, 2])
    receiver.kill('SIGTERM')
    expect((await receiver.ended).code).toBe(0)
  })

  test('trades nothing of another schema version until somebody has looked at it', async () => {
    const { receiver } = await begin()
    const body = new TextEncoder().encode(
      JSON.stringify({ ...signalContent('x'), schema_version: '2.0', seq: 1 }),
    )
    expect(await push(redis, receiver.url, 1, { body })).toBe(200)
    await receiver.prints(/not finished, .*#1 has schema version 2\.0/)
    expect(receiver.traded()).toEqual([])
    receiver.kill('SIGTERM')
    expect((await receiver.ended).code).toBe(0)
  })

  test('shows its key to nobody that the service redirects it to', async () => {
    const other = await startRawReceiver(socket => socket.end(rawAnswer(200, '{}')))
    const liar = await startRawReceiver(socket =>
      socket.end(rawAnswer(302, '', [`location: ${other.origin}/v1/signals/head`])),
    )
    const receiver = await startReceiver(kit, await copyKit(kit), { ...service, url: liar.origin })
    await receiver.prints(/not finished, the next pull tries again/)
    expect([liar.requests.length, other.connections()]).toEqual([1, 0])
    receiver.kill('SIGTERM')
    expect((await receiver.ended).code).toBe(0)
    await Promise.all([liar.close(), other.close()])
  })

  test('passes the self-test, and is not moved by it', async () => {
    const { receiver } = await begin({ WEBHOOK_SECRET: SECRET, WEBHOOK_SECRET_OLD: OTHER_SECRET })
    const order = {
      url: receiver.url,
      secret: SECRET,
      oldSecret: OTHER_SECRET,
      alias: 'alder',
      nowMs: Date.now(),
    }
    const sender = createTestSender()
    const findings = await runCases(selfTestCases(order), sender)
    await sender.close()
    expect(findings.filter(({ verdict }) => verdict === 'failed' || verdict === 'skipped')).toEqual([])
    await fireUpTo(1, 1)
    await push(redis, receiver.url, 1)
    await expectTraded(receiver, [1])
    await end(receiver)
  })

  test.each(['HIGHWATER_URL', 'HIGHWATER_KEY', 'WEBHOOK_SECRET'])('does not start without %s', async name => {
    const folder = await copyKit(kit)
    const started = startReceiver(kit, folder, service, { [name]: '' })
    await expect(started).rejects.toThrow(`${name} is not set`)
  })
})

test('half a line at the end of the state of the typescript receiver is as if it were not there', async () => {
  const kit = KITS[0]!
  const folder = await copyKit(kit)
  const receiver = await startReceiver(kit, folder, service)
  await receiver.prints(/everything after #0 is read/)
  await fireUpTo(1, 1)
  await push(redis, receiver.url, 1)
  await expectTraded(receiver, [1])
  await settled(redis, receiver)
  receiver.kill('SIGKILL')
  await receiver.ended
  await appendFile(join(folder, 'receiver.state'), '{"seq":2,"sign')
  await fireUpTo(2, 2)
  const again = await startReceiver(kit, folder, service)
  await expectTraded(again, [2])
  await settled(redis, again)
  again.kill('SIGKILL')
  await again.ended
  const third = await startReceiver(kit, folder, service)
  await fireUpTo(3, 3)
  await push(redis, third.url, 3)
  await expectTraded(third, [3])
})
