// Resends and accounts on a real outbox: what is sent again, and what is reported of what was sent.
import { createHash } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { deliveryAccount } from '#core/contract/endpoint.ts'
import { entitleClient } from '#signals/clients/clients.ts'
import { readAfter } from '#signals/log/read-log.ts'
import { dueCounts, oweAgain, readAttempts } from '#signals/outbox/outbox.ts'
import { accountFor, type ResendRange, resend } from '#signals/outbox/resend.ts'
import { fireTest } from '#signals/outbox/test-fire.ts'
import { disableWebhook, enableWebhook, removeWebhook, setSettings } from '#signals/outbox/webhooks.ts'
import { outboxKey } from '#signals/redis/keys.ts'
import {
  type Answer,
  addEndpoint,
  addSubscriber,
  BOX,
  delivered,
  failed,
  owingWorld,
  readDelivery,
} from '../../support/signals/delivery.ts'
import { fire } from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'

useRedis()
beforeEach(() => addSubscriber(redis, 'acme', 'http://127.0.0.1:9999/acme'))

/** Fires under each alias in turn, and relays. */
async function fired(aliases: readonly string[], answer?: Answer) {
  const world = owingWorld(redis, answer)
  await world.more(...aliases)
  const replay = (from: number, more: Omit<ResendRange, 'from'> = {}): Promise<number> =>
    resend(world.parts, ['acme'], { from, ...more }).then(({ owed_again }) => owed_again)
  return { ...world, replay }
}

test('a resend to an endpoint sends what its filter has and its own tests, each with the number before it there, and nothing to another', async () => {
  await entitleClient(redis, 'acme', { aliases: ['alder', 'birch'] }, '')
  await addEndpoint(redis, 'acme/backup', 'http://127.0.0.1:9999/backup')
  await setSettings(redis, BOX, 'acme/backup', { filter: ['birch'] })
  const { parts, drain, more, pairs } = await fired(['birch', 'alder'])
  for (const destination of ['acme', 'acme/backup']) await fireTest(parts, destination)
  await more('birch')
  for (const destination of ['acme', 'acme/backup']) await drain('slow', destination)
  const before = pairs().length
  expect(await resend(parts, ['acme/backup'], { from: 1 })).toEqual({ signals: 3, owed_again: 3 })
  expect(await drain()).toEqual({ kind: 'done' })
  await drain('slow', 'acme/backup')
  expect(pairs().slice(before).join(' ')).toBe('1,0 4,1 5,4')
})

test('a resend of exhausted signals has what was given up, and one of failed signals also what was withdrawn because the endpoint was disabled, and nothing that was withdrawn for another reason', async () => {
  await entitleClient(redis, 'acme', { aliases: ['alder', 'birch'] }, '')
  const { drain, replay, more, seqs } = await fired(['alder', 'alder'])
  await drain()
  const state = await readDelivery(redis, 2, 'acme')
  await redis.hset(outboxKey(2), 'acme', JSON.stringify({ ...state, status: 'exhausted' }))
  await more('birch')
  await setSettings(redis, BOX, 'acme', { filter: ['alder'] })
  await drain()
  await setSettings(redis, BOX, 'acme', { filter: null })
  await more('alder')
  await disableWebhook(redis, 'acme', 'a test')
  await drain()
  await enableWebhook(redis, 'acme')
  expect(await readDelivery(redis, 3, 'acme')).toMatchObject({ status: 'withdrawn' })
  expect(await readDelivery(redis, 4, 'acme')).toMatchObject({ status: 'withdrawn', disabled: true })
  expect(await replay(1, { only: 'exhausted' })).toBe(1)
  expect(await replay(1, { only: 'failed' })).toBe(1)
  await drain()
  expect(seqs()).toEqual([1, 2, 2, 4])
  expect(await replay(1, { only: 'failed' })).toBe(0)
})

test('a resend from a number sends again what the client may see, in order, each with the number before it', async () => {
  const aliases = ['alder', 'birch', 'alder', 'alder', 'birch']
  const { drain, replay, pairs, clock } = await fired(aliases)
  await drain()
  expect(await replay(3)).toBe(2)
  expect(await dueCounts(redis, clock.ms)).toEqual({ fast: 1, slow: 0 })
  await drain()
  expect(pairs().join(' ')).toBe('1,0 3,1 4,3 3,1 4,3')
  expect(await readDelivery(redis, 3, 'acme')).toMatchObject({ status: 'delivered', round: 2, attempts: 1 })
})

test('a resend brings what was never owed, because there was no webhook then', async () => {
  const { drain, replay, more, seqs } = await fired(['alder'])
  await drain()
  await disableWebhook(redis, 'acme', 'a test')
  await more('alder', 'alder')
  await enableWebhook(redis, 'acme')
  expect(await replay(2)).toBe(2)
  await drain()
  expect(seqs()).toEqual([1, 2, 3])
  expect(await readDelivery(redis, 2, 'acme')).toMatchObject({ prev: 1, round: 1 })
})

test('a resend that races an attempt in flight sends the signal once more after it, and counts each attempt once', async () => {
  const world = await fired(['alder'], async () => {
    world.clock.ms += 1
    if (world.sent.length === 1) await world.replay(1)
    return delivered()
  })
  expect(await world.drain()).toEqual({ kind: 'done' })
  expect(world.seqs()).toEqual([1, 1])
  expect(await readDelivery(redis, 1, 'acme')).toMatchObject({ status: 'delivered', round: 2, attempts: 1 })
  expect(await readAttempts(redis, 1, 'acme')).toHaveLength(2)
  expect(await world.drain()).toEqual({ kind: 'done' })
  expect(world.sent).toHaveLength(2)
})

test('a resend that races a retry loses none of its attempts: they start again', async () => {
  const answers = [failed(), failed(), delivered()]
  const { drain, replay, sent, clock } = await fired(['alder'], () => answers.shift()!)
  await drain()
  await replay(1)
  await drain()
  expect(sent.map(({ attempt }) => attempt)).toEqual([1, 1])
  clock.ms += 1_000
  await drain()
  expect(await readDelivery(redis, 1, 'acme')).toMatchObject({ status: 'delivered', round: 2, attempts: 2 })
})

test('a resend leaves what the relay has not passed to the relay', async () => {
  const { drain, replay, seqs } = await fired(['alder'])
  await fire(redis, 'not-relayed', 'alder')
  expect(await replay(1)).toBe(1)
  await drain()
  expect(seqs()).toEqual([1])
})

test('a resend that would send one endpoint more than it may, or that only counts, owes nothing', async () => {
  await addEndpoint(redis, 'acme/backup', 'http://127.0.0.1:9999/backup')
  const { parts, drain } = await fired(['alder', 'alder'])
  for (const destination of ['acme', 'acme/backup']) await drain('slow', destination)
  const ask = (more: object) => resend(parts, ['acme', 'acme/backup'], { from: 1 }, more)
  await expect(ask({ most: 1 })).rejects.toThrow('more than 1 signals match: give `to`')
  expect(await ask({ isDryRun: true })).toEqual({ signals: 2, owed_again: 0 })
  expect(await readDelivery(redis, 1, 'acme')).toMatchObject({ status: 'delivered', round: 1 })
  expect(await ask({ most: 2 })).toEqual({ signals: 2, owed_again: 4 })
})

test('a resend of nothing makes no client due, and one of an unknown client is refused', async () => {
  const { replay } = await fired(['birch'])
  expect(await replay(1)).toBe(0)
  expect(await dueCounts(redis, Number.MAX_SAFE_INTEGER)).toEqual({ fast: 0, slow: 0 })
  await expect(resend({ redis, now: () => 0 }, ['nobody'], { from: 1 })).rejects.toThrow(
    "there is no client 'nobody'",
  )
})

test('an account names what was delivered and what was not, over a list that the client can hash itself', async () => {
  const { drain, more } = await fired(['alder', 'birch', 'alder'], ({ signal }) =>
    signal.seq === 3 ? failed() : delivered(),
  )
  await drain()
  await disableWebhook(redis, 'acme', 'a test')
  await more('alder')
  const account = await accountFor(redis, 'acme', 1, 100)
  const states = { missing: [3, 4], exhausted: [], withdrawn: [] }
  expect(account).toMatchObject({ entitled: 3, delivered: 1, ...states })
  const own = (await readAfter(redis, 0, 10)).filter(({ alias }) => alias === 'alder')
  const rows = own.map(({ seq, body }) => `${seq} ${JSON.parse(body).signal_id}\n`)
  expect(account.sha256).toBe(createHash('sha256').update(rows.join('')).digest('hex'))
  const nothing = deliveryAccount.parse(await accountFor(redis, 'acme', 2, 2))
  expect(nothing).toMatchObject({ entitled: 0, delivered: 0, missing: [] })
  expect(await accountFor(redis, 'acme', null, null)).toEqual({ ...account, from: 1, to: 4 })
  expect(await accountFor(redis, 'acme', 9, null)).toMatchObject({ from: 9, to: 9, entitled: 0 })
})

test('an account counts what was withdrawn among what is missing, and what a removed endpoint acknowledged as delivered, and nothing else of it', async () => {
  await addEndpoint(redis, 'acme/old', 'http://127.0.0.1:9999/old')
  const { drain } = await fired(['alder', 'alder'])
  await disableWebhook(redis, 'acme', 'a test')
  await drain()
  const state = await readDelivery(redis, 1, 'acme/old')
  for (const [i, status] of ['delivered', 'exhausted'].entries())
    await redis.hset(outboxKey(i + 1), 'acme/old', JSON.stringify({ ...state, status }))
  const account = { entitled: 2, delivered: 1, missing: [2], withdrawn: [2] }
  expect(await accountFor(redis, 'acme', 1, 2)).toMatchObject({ ...account, exhausted: [2] })
  await removeWebhook(redis, 'acme/old')
  expect(await accountFor(redis, 'acme', 1, 2)).toMatchObject({ ...account, exhausted: [] })
})

test('an entry that somebody has resent, alone or from a number on, does not expire, and one that a restore owes again does', async () => {
  const { drain, replay, seqs, clock } = await fired(['alder', 'alder', 'alder'])
  await setSettings(redis, BOX, 'acme', { expireAfterS: 60 })
  clock.ms += 60_001
  await replay(2)
  for (const seq of [1, 3]) await oweAgain(redis, 'acme', [{ seq, prev: seq - 1 }], clock.ms, false)
  await drain()
  expect(seqs()).toEqual([2, 3])
  expect(await readDelivery(redis, 1, 'acme')).toMatchObject({ status: 'expired', round: 2, attempts: 0 })
  await replay(1, { to: 1 })
  await drain()
  expect(seqs()).toEqual([2, 3, 1])
})

test('an account of several endpoints takes what one has acknowledged as delivered, and that of one endpoint is what it is sent', async () => {
  await addSubscriber(redis, 'two', 'http://127.0.0.1:9999/two', ['alder', 'birch'])
  await addEndpoint(redis, 'two/backup', 'http://127.0.0.1:9999/backup')
  await fired(['alder', 'birch', 'alder', 'birch'])
  const states = ['delivered expired', 'expired owed', 'exhausted delivered', 'expired expired']
  for (const [i, both] of states.entries())
    for (const [k, status] of both.split(' ').entries())
      await redis.hset(
        outboxKey(i + 1),
        ['two', 'two/backup'][k]!,
        JSON.stringify({ ...(await readDelivery(redis, i + 1, 'two')), status }),
      )
  const account = await accountFor(redis, 'two', 1, 9)
  const whole = { entitled: 4, delivered: 2, missing: [2, 4], owed: [2], exhausted: [], expired: [2, 4] }
  expect(account).toMatchObject(whole)
  const ofDefault = await accountFor(redis, 'two', 1, 9, 'default')
  expect(ofDefault).toMatchObject({ entitled: 4, delivered: 1, missing: [2, 3, 4], expired: [2, 4] })
  expect(ofDefault.sha256).toBe(account.sha256)
  await setSettings(redis, BOX, 'two/backup', { filter: ['birch'] })
  const ofBackup = await accountFor(redis, 'two', null, null, 'backup')
  expect(ofBackup).toMatchObject({ entitled: 2, delivered: 0, missing: [2, 4], owed: [2], expired: [4] })
  await expect(accountFor(redis, 'two', 1, 9, 'other')).rejects.toThrow(
    'there is no endpoint of this name; those that are set: default, backup',
  )
})
