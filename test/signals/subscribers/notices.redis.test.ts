// Notices on a real Redis: from what causes them to a receiver on loopback and a real SMTP server. Time is the test's.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { issueKey, listKeys, revokeKey } from '#signals/clients/api-keys.ts'
import { entitleClient } from '#signals/clients/clients.ts'
import type { Setter } from '#signals/outbox/setter.ts'
import { disableWebhook, type Settings, saveWebhook, setSettings } from '#signals/outbox/webhooks.ts'
import { NOTICES_OWED } from '#signals/redis/keys.ts'
import { createMailer } from '#signals/send/mail.ts'
import { readNotices, sendNotices } from '#signals/subscribers/notices.ts'
import { verifyWebhook } from '../../../clients/typescript/src/index.ts'
import { atEnd } from '../../support/ends.ts'
import * as deliveries from '../../support/signals/delivery.ts'
import { acknowledge, type Receiver, startReceiver } from '../../support/signals/receiver.ts'
import { createTestSender } from '../../support/signals/sender.ts'
import { addClient, NOW_MS, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals, withKey } from '../../support/signals/signals-app.ts'
import { redis, server, useRedis } from '../../support/signals/test-redis.ts'

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000]
const TO = 'desk@acme.example'
const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
const random = seededBytes('notices')

let receiver: Receiver
let answer = 200
const clock = { ms: NOW_MS }
const errors: string[] = []

useRedis()

/** The client acme, with the endpoints default, backup, and idle, which is paused. */
beforeEach(async () => {
  ;[answer, clock.ms, errors.length] = [200, NOW_MS, 0]
  receiver = await startReceiver((request, response) => {
    response.statusCode = answer
    acknowledge(request, response)
  })
  await deliveries.addSubscriber(redis, 'acme', receiver.urlOf('default/T0KEN'))
  for (const name of ['backup', 'idle']) {
    const webhook = { url: receiver.urlOf(`${name}/T0KEN`), secrets: [{ text: SECRET, expiresAtMs: null }] }
    const headers = { authorization: 'T0KEN-of-a-header' }
    const destination = `acme/${name}`
    await saveWebhook(redis, deliveries.BOX, { destination, ...webhook, headers }, deliveries.BY_OPERATOR)
  }
  await setSettings(redis, deliveries.BOX, 'acme/idle', { isPaused: true })
  await entitleClient(redis, 'acme', { email: TO }, '')
})

/** A mail server without TLS that keeps what it takes, envelope first. */
async function startSmtp() {
  const mails: string[] = []
  const users: unknown[] = []
  const smtp = new SMTPServer({
    ...{ authOptional: true, allowInsecureAuth: true, disabledCommands: ['STARTTLS'] },
    onAuth: ({ username }, _, done) => done(null, { user: String(users.push(username)) }),
    async onData(stream, { envelope }, done) {
      mails.push(
        JSON.stringify(envelope.rcptTo) +
          String(Buffer.concat(await stream.toArray())).replaceAll('=\r\n', ''),
      )
      done()
    },
  })
  smtp.on('error', () => {}) // a client that went away
  smtp.listen(0, '127.0.0.1')
  await once(smtp.server, 'listening')
  atEnd(() => smtp.close())
  return { mails, users, port: (smtp.server.address() as AddressInfo).port } // one that listens on a port has one
}

const mailerOf = (port: number, at = '127.0.0.1') =>
  createMailer(`smtp://me:T0KEN-of-smtp@${at}:${port}`, 'signals@example.org')

const partsWith = (port: number | null, sender = createTestSender()) => ({
  ...{ redis, box: deliveries.BOX, sender, now: () => clock.ms, isStopping: () => false },
  mail: port === null ? null : mailerOf(port),
  onError: (error: unknown) => void errors.push(String(error)),
})

/** The endpoints that were sent something, in the order of their names. */
const posted = () => receiver.received.map(({ client }) => client.split('/')[0]).sort()

async function failWith(status: number): Promise<void> {
  const world = deliveries.owingWorld(redis, () => deliveries.failed(status))
  for (let i = 0; i < 12; i++, world.clock.ms += 11 * MINUTE_MS) {
    await world.more('alder')
    await world.drain()
  }
}

const MOVED =
  'gone from https://me:T0KEN@hooks.example.org/T0KEN?a=T0KEN and hooks.example.org/T0KEN, token=T0KEN'

const disable = () => disableWebhook(redis, 'acme', MOVED).then(() => disableWebhook(redis, 'acme', MOVED))

async function revoke(): Promise<void> {
  const { id } = (await listKeys(redis, 'acme'))[0]! // addSubscriber has issued it
  const webhook = { url: 'https://hooks.example.org/T0KEN', secrets: [] }
  await saveWebhook(redis, deliveries.BOX, { destination: 'acme/backup', ...webhook }, deliveries.byKey(id))
  await revokeKey(redis, id)
}

/** Of a key that chose settings of an endpoint, of which the operator chose others after it. */
async function revokeAfterSettings(): Promise<void> {
  const { id } = (await listKeys(redis, 'acme'))[0]!
  const set = (settings: Settings, by?: Setter) =>
    setSettings(redis, deliveries.BOX, 'acme/backup', settings, by)
  await set({ filter: ['alder'] }, deliveries.byKey(id))
  await set({ expireAfterS: 60 })
  await revokeKey(redis, id)
}

const issue = () => issueKey(redis, 'acme', random, NOW_MS, NOW_MS + 30 * DAY_MS)

const KEY_ID = expect.stringMatching(/^\w{8}$/)
const HOUR = 'no attempt has succeeded for 66 minutes; the last one: 503'
const HOSTS = 'gone from hooks.example.org and hooks.example.org token=[redacted]'

test.each([
  ['failed for an hour', () => failWith(503), ['endpoint_failing', 'default', null, HOUR], ['backup']],
  [
    'answers 410',
    () => failWith(410),
    ['endpoint_disabled', 'default', null, expect.stringContaining('410')],
    ['backup'],
  ],
  ['is disabled by hand', disable, ['endpoint_disabled', 'default', null, HOSTS], ['backup']],
  [
    'is suspended',
    revoke,
    ['endpoint_disabled', 'backup', KEY_ID, expect.stringContaining('revoked')],
    ['default'],
  ],
  [
    'has settings of a key that is revoked',
    revokeAfterSettings,
    ['key_revoked', null, KEY_ID, expect.stringMatching(/ of these endpoints stays: backup\. Check each/)],
    ['backup', 'default'],
  ],
  [
    'has a key that ends',
    issue,
    ['key_expiring', null, KEY_ID, expect.stringContaining('2026-12-21')],
    ['backup', 'default'],
  ],
] as const)(
  'a client whose endpoint %s gets one notice, at its other endpoints and by mail, without any secret',
  async (_, cause, row, to) => {
    const { mails, port } = await startSmtp()
    await cause()
    clock.ms += 23 * DAY_MS - 1
    await sendNotices(partsWith(port))
    clock.ms += 1
    for (let i = 0; i < 2; i++) await sendNotices(partsWith(port))
    const notices = await readNotices(redis, 'acme')
    expect(notices.map(({ event, endpoint, key_id, reason }) => [event, endpoint, key_id, reason])).toEqual([
      row,
    ])
    expect([posted(), mails.length]).toEqual([to, 1])
    expect(mails[0]).toContain(TO)
    for (const { headers, body } of receiver.received) {
      expect(JSON.parse(body)).toEqual(notices[0])
      expect(Object.keys(headers).filter(name => /seq|attempt/.test(name))).toEqual([])
    }
    const backup = receiver.received.find(({ client }) => client.startsWith('backup'))
    const verified = backup && verifyWebhook(backup.headers, backup.body, SECRET, { nowMs: clock.ms })
    if (verified)
      await expect(verified).rejects.toMatchObject({ code: expect.stringMatching(/^(bad_request|notice)$/) })
    const shown = JSON.stringify([notices, mails, receiver.received.map(({ body }) => body), errors])
    for (const hidden of ['T0KEN', SECRET, 'whsec_', 'hw_live_']) expect(shown).not.toContain(hidden)
    expect(await redis.hlen(NOTICES_OWED)).toBe(0)
  },
)

test('a notice that neither its endpoints nor the mail server take is tried six times in eight hours, then given up, and the log has no address of them', async () => {
  answer = 503
  await issue()
  clock.ms += 23 * DAY_MS
  const parts = partsWith(1) // nothing listens there
  const tried: number[] = []
  for (let minute = 0; minute < 720; minute++, clock.ms += MINUTE_MS) {
    await sendNotices(parts)
    if (posted().length > 2 * tried.length) tried.push(minute)
  }
  expect(tried).toEqual([0, 1, 6, 36, 156, 516])
  const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
  expect([posted().length, ids.size, await redis.hlen(NOTICES_OWED)]).toEqual([12, 1, 0])
  expect(errors).toHaveLength(7)
  expect([errors[0], errors[6]]).toEqual([
    'Error: a notice was not mailed (ESOCKET): check SMTP_URL, MAIL_FROM and the address of the client',
    'Error: the notice key_expiring for acme is given up after 6 tries: inform the client',
  ])
  expect(await readNotices(redis, 'acme')).toHaveLength(1)
})

test('a notice that a receiver of signals refuses is not sent again, and disables nothing', async () => {
  answer = 400
  await disable()
  for (let i = 0; i < 9; i++, clock.ms += MINUTE_MS) await sendNotices(partsWith(null))
  expect(posted()).toEqual(['backup'])
  expect(await redis.hmget('{hw}:webhook:acme/backup', 'enabled', 'probe_at')).toEqual(['1', ''])
})

test('a notice whose sending was broken off is sent by the process that relays next, under the same id', async () => {
  await disable()
  await sendNotices({ ...partsWith(null), isStopping: () => true })
  const pace = { flightMs: 20_000, pollEveryMs: 50, noticesEveryMs: 10 }
  const [one, two] = await Promise.all([1, 2].map(() => deliveries.startTestDelivery(server.url, { pace })))
  for (const { stop } of [one!, two!]) atEnd(stop)
  await deliveries.until(async () => (await redis.hlen(NOTICES_OWED)) === 0)
  expect(posted()).toEqual(['backup', 'backup'])
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

test('the password of a mail server is not sent without TLS to another machine', async () => {
  const { mails, users, port } = await startSmtp()
  const mail = { to: TO, subject: 'a test', text: 'a test' }
  await expect(mailerOf(port, '0.0.0.0')(mail)).rejects.toThrow(
    /^a notice was not mailed \(E\w+[ 0-9]*\): check SMTP_URL/,
  )
  expect([users, mails]).toEqual([[], []])
  await mailerOf(port)(mail)
  expect([users, mails.length]).toEqual([['me'], 1])
})

test('a key reads the notices of its own client, newest first and a hundred at most', async () => {
  const other = await addClient(redis, 'other', [], random)
  const { token } = await issue()
  for (let i = 0; i < 101; i++) {
    await saveWebhook(
      redis,
      deliveries.BOX,
      { destination: 'acme', url: receiver.urlOf('a'), secrets: [] },
      deliveries.BY_OPERATOR,
    )
    await disableWebhook(redis, 'acme', `reason ${i}`)
  }
  const { app } = createTestSignals(redis)
  const answer = z.object({ data: z.array(z.unknown()) })
  const read = async (key: string) =>
    answer.parse(await (await app.request('/v1/notices', withKey(key))).json()).data
  const own = await read(token)
  expect([own.length, own[0], await read(other.token)]).toEqual([
    100,
    expect.objectContaining({ reason: 'reason 100' }),
    [],
  ])
})
