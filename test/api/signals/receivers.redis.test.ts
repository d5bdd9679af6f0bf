// Both example receivers, driven over the wire as the service drives them: every signal once, in its order.

import { spawnSync } from 'node:child_process'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SignalsParts } from '#api/signals/exchange.ts'
import { commit } from '#signals/log/commit.ts'
import { EPOCH, HEAD } from '#signals/redis/keys.ts'
import { runCases, selfTestCases } from '#signals/self-test.ts'
import { atEnd } from '../../support/ends.ts'
import { signalItem } from '../../support/seals/chain.ts'
import type { TestRedis } from '../../support/servers/redis.ts'
import { ownRedis } from '../../support/servers/use-redis.ts'
import { rawAnswer, startRawReceiver } from '../../support/signals/raw-receiver.ts'
import {
  copyKit,
  expectTraded,
  KITS,
  type Kit,
  OTHER_SECRET,
  type PullService,
  type Push,
  push,
  type Receiver,
  SECRET,
  settled,
  startPullService,
  startReceiver,
  whyNot,
} from '../../support/signals/receiver-kit.ts'
import { startSealed } from '../../support/signals/sealed-chain.ts'
import { createTestSender } from '../../support/signals/sender.ts'
import { fire, NOW_MS, signalContent } from '../../support/signals/signals.ts'

let server: TestRedis
let redis: Redis

beforeAll(async () => {
  server = await ownRedis()
  redis = await server.connect()
})

/** An empty log and a service of it. */
async function openLog(changes: Partial<SignalsParts> = {}): Promise<PullService> {
  await redis.flushall()
  const service = await startPullService(redis, changes)
  atEnd(service.close)
  return service
}

/** Signals `from` to `to`, all of which the client sees. */
async function fireUpTo(from: number, to: number): Promise<void> {
  for (let seq = from; seq <= to; seq++) expect(await fire(redis, `s${seq}`, 'alder')).toBe(seq)
}

/** Often enough that a test need not wait, seldom enough that the pull does not do the work of the push. */
const PULL_OFTEN = { PULL_SECONDS: '0.2' }

const BOTH_SECRETS = { SEALS: 'off', WEBHOOK_SECRET: OTHER_SECRET, WEBHOOK_SECRET_OLD: SECRET }

/** As the page of the receivers says. */
const forgetSeals = ({ name }: Kit, folder: string): readonly [string, readonly string[]] =>
  name === 'typescript'
    ? ['sed', ['-i', '/"seals"/d', join(folder, 'receiver.state')]]
    : ['python3', ['-c', FORGET, join(folder, 'receiver.sqlite')]]

const FORGET =
  "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('DELETE FROM seals'); db.commit()"

/** A receiver that was asked to end has done so. */
async function end(receiver: Receiver): Promise<void> {
  receiver.kill('SIGTERM')
  expect((await receiver.ended).code).toBe(0)
}

describe.each(KITS)('the $name receiver', kit => {
  const reason = whyNot(kit)

  /** One receiver through its life: its log goes on from test to test, and each looks at what was traded since the last. */
  let service: PullService
  let receiver: Receiver
  let folder: string
  let seen = 0
  let last = 0

  beforeAll(async () => {
    if (reason !== null) return
    service = await openLog()
    await fireNext(3)
    folder = await copyKit(kit)
    receiver = await startReceiver(kit, folder, service, BOTH_SECRETS)
    await receiver.prints(/everything after #3 is read/)
    await settled(redis, receiver)
  })
  beforeEach(context => {
    if (reason !== null) context.skip(reason)
  })

  /** So many signals that the client sees, by their numbers. */
  async function fireNext(count: number): Promise<readonly number[]> {
    const seqs: number[] = []
    for (let i = 0; i < count; i++) seqs.push(await fire(redis, `next-${++last}`, 'alder'))
    return seqs
  }

  const pushed = async (seqs: readonly number[], order: Push = {}) => {
    for (const seq of seqs) expect(await push(redis, receiver.url, seq, order)).toBe(200)
  }

  /** Waits until the last of these is traded, and expects that since the last call these were, and nothing else. */
  async function expectNext(seqs: readonly number[]): Promise<void> {
    await receiver.prints(new RegExp(`TRADE #${seqs.at(-1)} `))
    expect(receiver.traded().slice(seen)).toEqual(seqs)
    seen = receiver.traded().length
  }

  test('a receiver begins with what is fired after its first start', async () => {
    await pushed([2])
    const seqs = await fireNext(1)
    await pushed(seqs)
    await expectNext(seqs)
  })

  test('a receiver trades what is pushed once, however often and in whatever order it comes', async () => {
    const [a = 0, b = 0, c = 0] = await fireNext(3)
    await pushed([a, a, b, a, b, c])
    await expectNext([a, b, c])
    await pushed([c])
    const [d = 0, e = 0, f = 0] = await fireNext(3)
    await pushed([f, d, e])
    await expectNext([d, e, f])
  })

  test('a receiver closes a gap by one pull, also if the client was never sent the numbers between', async () => {
    const [first = 0] = await fireNext(1)
    await fire(redis, 'foreign', 'birch')
    const rest = await fireNext(3)
    await pushed([first])
    await pushed(rest.slice(-1))
    await expectNext([first, ...rest])
  })

  test('a receiver asks for what it may have missed if a push does not say what came before it', async () => {
    const seqs = await fireNext(2)
    await pushed(seqs.slice(-1), { headers: ({ 'x-prev-seq': _gone, ...headers }) => headers })
    await expectNext(seqs)
  })

  test('a receiver acknowledges tests and dry runs once, and trades neither', async () => {
    const skipped = [await fire(redis, 'test', 'alder', 'acme')]
    for (const more of [{ mode: 'DRY_RUN' }, { is_test: true }] as const)
      await commit(redis, [{ content: signalContent(JSON.stringify(more), more), onlyFor: null }], NOW_MS)
    const [after = 0] = await fireNext(1)
    skipped.push(after - 2, after - 1)
    await pushed([...skipped, after])
    await expectNext([after])
    const lines = skipped.map((seq, i) => `skipped #${seq}, ${i === 1 ? 'DRY_RUN' : 'a test'}`)
    expect(receiver.printed().match(/^skipped #\d{1,3},.*?(?:a test|DRY_RUN)/gm)).toEqual(lines) // by the push or the pull
  })

  test('a receiver is not moved by a test whose number the log does not have', async () => {
    const test = { ...signalContent('x', { is_test: true }), seq: 900 }
    await pushed([900], { body: new TextEncoder().encode(JSON.stringify(test)), prev: 0 })
    const seqs = await fireNext(1)
    await pushed(seqs)
    await expectNext(seqs)
  })

  test('a receiver takes either of two secrets, and no third', async () => {
    const [a = 0, b = 0] = await fireNext(2)
    await pushed([a], { secrets: [SECRET] })
    await pushed([b], { secrets: [OTHER_SECRET, SECRET] })
    const third = { secrets: [`whsec_${btoa('a'.repeat(32))}`] }
    expect(await push(redis, receiver.url, b, third)).toBe(401)
    await expectNext([a, b])
  })

  test('a receiver refuses what is not signed as it stands, is no signal, or is too large, and does nothing for a notice but acknowledge it', async () => {
    const [seq = 0] = await fireNext(1)
    const half = (value = '') => value.slice(0, value.length / 2)
    const bodyOf = (text: string) => new TextEncoder().encode(text)
    const orders: [Push, number][] = [
      [{ tamper: body => body.with(body.indexOf(0x35), 0x36) }, 401],
      [{ headers: ({ 'x-signature': _gone, ...headers }) => headers }, 401],
      [{ headers: all => ({ ...all, 'x-signature': half(all['x-signature']) }) }, 401],
      [{ headers: all => ({ ...all, 'x-signature': 'sha256=é' }) }, 401],
      [{ headers: all => ({ ...all, 'x-signature': '' }) }, 401],
      ...['{"seq":', '[1]', 'null', '{"event":"a","seq":1}'].map((text): [Push, number] => [
        { body: bodyOf(text) },
        400,
      ]),
      [{ body: bodyOf('{"event":"endpoint_failing","endpoint":"é","reason":"r"}') }, 200],
      [{ body: new Uint8Array(64 * 1024 + 1) }, 413],
      [{}, 200],
    ]
    for (const [order, status] of orders) expect(await push(redis, receiver.url, seq, order)).toBe(status)
    await expectNext([seq])
  })

  test('a receiver passes the self-test, and is not moved by it', async () => {
    const secrets = { secret: OTHER_SECRET, oldSecret: SECRET }
    const sender = createTestSender()
    const cases = selfTestCases({ url: receiver.url, ...secrets, alias: 'alder', nowMs: Date.now() })
    const findings = await runCases(cases, sender)
    await sender.close()
    expect(findings.filter(({ verdict }) => verdict === 'failed' || verdict === 'skipped')).toEqual([])
    const seqs = await fireNext(1)
    await pushed(seqs)
    await expectNext(seqs)
  })

  test('a receiver that was killed even as it wrote its state, and was away for long, does what it missed once, in order, when it starts again', async () => {
    const before = await fireNext(2)
    await pushed(before)
    await expectNext(before)
    await settled(redis, receiver)
    receiver.kill('SIGKILL')
    await receiver.ended
    if (kit.name === 'typescript') await appendFile(join(folder, 'receiver.state'), '{"seq":2,"sign')
    const count = 501 // more than the 500 of a page
    const contents = Array.from({ length: count }, (_, i) => signalContent(`s${i}`))
    const signals = contents.map(content => ({ content, onlyFor: null }))
    const outcome = await commit(redis, signals, NOW_MS)
    const written = outcome.kind === 'committed' ? outcome.signals.map(({ seq }) => seq) : []
    expect(written).toHaveLength(count)
    seen = 0
    receiver = await startReceiver(kit, folder, service, BOTH_SECRETS)
    await expectNext(written)
    await pushed(written.slice(-3))
    const after = [await fire(redis, 'after', 'alder')]
    await pushed(after)
    await expectNext(after)
    receiver.kill('SIGTERM')
    expect(await receiver.ended).toMatchObject({ code: 0, stderr: '' })
  })

  /** A receiver that has begun at the end of an empty log, and whose first pull is over. */
  async function begin(env: Record<string, string> = {}, change?: (code: string) => string) {
    const service = await openLog()
    const receiver = await startReceiver(kit, await copyKit(kit, change), service, env)
    await receiver.prints(/everything after #0 is read/)
    await settled(redis, receiver)
    return { receiver, service }
  }

  test('a receiver verifies the form of Standard Webhooks if it is asked to, within five minutes', async () => {
    const { receiver } = await begin({ SIGNATURE: 'standard-webhooks' })
    await fireUpTo(1, 2)
    const sent = (seq: number, order: Push = {}) => push(redis, receiver.url, seq, order)
    for (const order of [
      { sentAtMs: Date.now() - 360_000 },
      { sentAtMs: Date.now() + 360_000 },
      { headers: (all: Record<string, string>) => ({ ...all, 'webhook-id': 'another' }) },
      { headers: (all: Record<string, string>) => ({ ...all, 'webhook-timestamp': '9'.repeat(9_000) }) },
      { secrets: [OTHER_SECRET] },
    ])
      expect(await sent(1, order)).toBe(401)
    expect(await sent(1, { secrets: [OTHER_SECRET, SECRET], sentAtMs: Date.now() - 240_000 })).toBe(200)
    expect(await sent(2)).toBe(200)
    await expectTraded(receiver, [1, 2])
    await end(receiver)
  })

  test('a receiver says why a pull fails, does what was pushed meanwhile, and reads all again when the log came back from a copy', async () => {
    const { receiver, service } = await begin(PULL_OFTEN)
    await fireUpTo(1, 2)
    await server.kill()
    await receiver.prints(/not finished, the next pull tries again: .*503/)
    await server.restart()
    await expectTraded(receiver, [1, 2])
    await fireUpTo(3, 3)
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
    await end(receiver)
  })

  test('a receiver offers a signal again that trade() failed for before those behind it, and trades none of another schema version', async () => {
    const failing = (code: string) => code.replace(kit.tradeLine, line => kit.failingOnce + line)
    const { receiver } = await begin({}, failing)
    await fireUpTo(1, 2)
    await push(redis, receiver.url, 1)
    await receiver.prints(/not finished, .*the venue is closed/)
    await push(redis, receiver.url, 2)
    await expectTraded(receiver, [1, 2])
    const other = { ...signalContent('x'), schema_version: '2.0', seq: 3 }
    const body = new TextEncoder().encode(JSON.stringify(other))
    expect(await push(redis, receiver.url, 3, { body })).toBe(200)
    await receiver.prints(/not finished, .*#3 has schema version 2\.0/)
    expect(receiver.traded()).toEqual([1, 2])
    await end(receiver)
  })

  test('a receiver checks on a rhythm that what it was sent is sealed, at the address that it is given, and repeats a mismatch until it is deleted from its state', async () => {
    const sealed = await startSealed(redis)
    const service = await openLog(sealed.changes)
    const folder = await copyKit(kit)
    const begin = (env = {}) => startReceiver(kit, folder, service, { SEALS_SECONDS: '0.2', ...env })
    const early = await begin({ HISTORY_URL: 'http://127.0.0.1:1/' })
    await early.prints(/seals are not checked, the next check tries again: (?!.*nothing is sealed yet)/)
    await end(early)
    const first = await begin()
    await fireUpTo(1, 2)
    for (const seq of [1, 2]) await push(redis, first.url, seq)
    await first.prints(/seals are not checked, the next check tries again: .*nothing is sealed yet/)
    await sealed.seal(1, 2)
    await first.prints(/signals up to #2 are sealed: 1 \S{44}/)
    await sealed.seal()
    await first.prints(/signals up to #2 are sealed: 2 \S{44}/)
    await fireUpTo(3, 3)
    await push(redis, first.url, 3)
    await expectTraded(first, [1, 2, 3])
    await sealed.seal(signalItem(3, { action: 'short' }))
    const mismatch =
      /SEALS DO NOT MATCH: signal 3 as it was delivered is not in the batch of seal 3: it was altered/
    await first.prints(mismatch)
    await settled(redis, first) // the fault is on the disk
    await end(first)
    const second = await begin()
    await second.prints(mismatch)
    await end(second)
    const [command, args] = forgetSeals(kit, folder)
    expect(spawnSync(command, args).status).toBe(0)
    const third = await begin()
    await settled(redis, third)
    await fireUpTo(4, 4)
    await push(redis, third.url, 4)
    await sealed.seal(4)
    await third.prints(/signals up to #4 are sealed: 4 \S{44}/)
    await end(third)
  })

  test('a receiver shows its key to no address that the service redirects it to', async () => {
    const other = await startRawReceiver(socket => socket.end(rawAnswer(200, '{}')))
    const liar = await startRawReceiver(socket =>
      socket.end(rawAnswer(302, '', [`location: ${other.origin}/v1/signals/head`])),
    )
    const service = await openLog()
    const receiver = await startReceiver(kit, await copyKit(kit), { ...service, url: liar.origin })
    await receiver.prints(/not finished, the next pull tries again/)
    expect([liar.requests.length, other.connections()]).toEqual([1, 0])
    await end(receiver)
    await Promise.all([liar.close(), other.close()])
  })

  test('a receiver does not start without an address, a key or a secret', async () => {
    const service = await openLog()
    for (const name of ['HIGHWATER_URL', 'HIGHWATER_KEY', 'WEBHOOK_SECRET']) {
      const started = startReceiver(kit, await copyKit(kit), service, { [name]: '' })
      await expect(started).rejects.toThrow(`${name} is not set`)
    }
  })
})
