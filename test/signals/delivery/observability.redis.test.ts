// Metrics, alerts and logs: what they contain, how often they come, and that none of them ever holds a secret.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { beforeEach, expect, test } from 'vitest'
import { createAlertChannel } from '#cli/outside/send-alert.ts'
import { createLog } from '#cli/services/log.ts'
import { parseEnvironment } from '#cli/settings/environment.ts'
import { type AlertKind, createAlerts, type SentAlert } from '#signals/alerts.ts'
import type { DeliveryEvent } from '#signals/delivery/deliver.ts'
import { noteDivergence } from '#signals/live/live-record.ts'
import { createMetrics } from '#signals/metrics.ts'
import { OPERATOR } from '#signals/outbox/setter.ts'
import { RedisDownError } from '#signals/redis/connect.ts'
import { liveKey, SEAL_STATE, SEALS_OFF } from '#signals/redis/keys.ts'
import { type Overview, readOverview } from '#signals/views/overview.ts'
import { listenForTest } from '../../support/http/listen-for-test.ts'
import { operatorClient, operatorParts, TOKEN } from '../../support/signals/operator.ts'
import { playScene } from '../../support/signals/operator-scene.ts'
import { addClient, NOW_MS, seededBytes } from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

useRedis()
beforeEach(async () => {
  await playScene(redis)
})

const overview = () => readOverview(operatorParts(redis))
const relayed = async (): Promise<Overview> => ({ ...(await overview()), isRelayed: true })

/** A live strategy whose next bar has been due for so long. */
const leaveBehind = (alias: string, ms: number, announced: object | null = null) =>
  redis.hset(liveKey(alias), {
    cursor: NOW_MS - 14_400_000 - ms,
    timeframe_ms: 14_400_000,
    announced: JSON.stringify(announced),
  })

/** A live strategy without a position, whose runner found a gap of three bars just now. */
function leaveGap(alias: string) {
  const gaps = [2, 3].map(missing => ({ missing, before_ms: Date.UTC(2026, 10, 20), found_ms: NOW_MS }))
  return redis.hset(liveKey(alias), { gaps: JSON.stringify(gaps) })
}

const attempt = (ok: boolean): DeliveryEvent => ({
  kind: 'attempt',
  destination: 'acme-capital',
  seq: 3,
  firedAtMs: NOW_MS,
  attempt: {
    ...{ at: NOW_MS + 10, n: 1, ok, status: ok ? 200 : 502, reason: ok ? null : 'status' },
    ...{ first_byte_ms: 30, total_ms: 40, excerpt: '' },
  },
})

test('metrics count what the process did, and show the state of the service, without a name of a client', async () => {
  const metrics = createMetrics(overview)
  metrics.onEvent(attempt(true))
  metrics.onEvent(attempt(false))
  metrics.onEvent({ kind: 'exhausted', destination: 'north-ridge', seq: 3 })
  metrics.onFired(12)
  metrics.onAnswered({ route: '/ops/status', status: 200, ms: 3 })
  metrics.onAnswered({ route: '/ops/status', status: 500, ms: 3 })
  const { text } = await metrics.read()
  for (const line of [
    'highwater_attempts_total{result="failed",reason="status"} 1',
    'highwater_deliveries_total{outcome="delivered"} 1',
    'highwater_deliveries_total{outcome="withdrawn"} 0', // there before the first
    'highwater_deliveries_total{outcome="exhausted"} 1',
    'highwater_delivery_seconds_bucket{le="0.02",stage="sent"} 1',
    'highwater_delivery_seconds_bucket{le="0.05",stage="acknowledged"} 1',
    'highwater_fire_durable_seconds_count 1',
    'highwater_breakers{state="open"} 1',
    'highwater_webhooks_disabled 1',
    'highwater_attempts_total{result="failed",reason="timeout"} 0',
    'highwater_faults_total 1',
    'highwater_log_seq 6',
    'highwater_redis_durable 1',
    'highwater_relay_lag_signals 0',
    'highwater_redis_up 1',
    'highwater_seal_age_seconds 125',
    'highwater_seals_refused 0',
  ])
    expect(text.split('\n')).toContain(line)
  expect(text).not.toMatch(/acme|north-ridge|hooks\./)
})

test('metrics show how long the next bar of each live strategy has been due, how many are missing in its feed, and whether its replay differs', async () => {
  await leaveBehind('alder', 600_000)
  await leaveGap('alder')
  await noteDivergence(redis, 'alder', 'another stop')
  const { text } = await createMetrics(overview).read()
  for (const [alias, behind, missing, diverges] of [
    ['alder', 600, 5, 1],
    ['birch', 0, 0, 0],
  ] as const)
    for (const [name, value] of Object.entries({ behind_seconds: behind, missing_bars: missing, diverges }))
      expect(text).toContain(`highwater_live_${name}{alias="${alias}"} ${value}`)
})

test('metrics show that Redis is away, and omit what is unknown then', async () => {
  let isAway = false
  const metrics = createMetrics(async () => {
    if (isAway) throw new RedisDownError(new Error('away'))
    return overview()
  })
  await metrics.read()
  isAway = true
  const { text } = await metrics.read()
  expect(text).toContain('highwater_redis_up 0')
  expect(text).not.toMatch(/^highwater_(log_seq|queue_calls|relay_running)[ {]/m)
})

test('metrics have every name that the dashboard and the rules of Prometheus ask for, and counters that rules watch begin at 0', async () => {
  const files = ['grafana/signals.json', 'prometheus/rules.yaml']
  const texts = files.map(name => readFile(join(import.meta.dirname, '../../../deploy', name), 'utf8'))
  const dashboard = (await Promise.all(texts)).join()
  const metrics = createMetrics(overview)
  const { text } = await metrics.read()
  const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(match => match[1]))
  const asked = [...dashboard.matchAll(/highwater_(?!history)\w+/g)].map(([name]) =>
    name.replace(/_(bucket|sum|count)$/, ''),
  )
  expect(asked.length).toBeGreaterThan(10)
  expect(asked).toEqual(
    expect.arrayContaining(['highwater_live_behind_seconds', 'highwater_live_missing_bars']),
  )
  expect(asked.filter(name => !known.has(name))).toEqual([])
  for (const [, name] of dashboard.matchAll(/increase\((highwater_(?!history)\w+)/g))
    expect(text).toMatch(new RegExp(`^${name}(?:\\{.*\\})? 0$`, 'm'))
})

test('an alert names a live strategy that is behind, and the position that subscribers hold', async () => {
  const { alerts, sent } = start()
  await leaveBehind('alder', 600_000, { mode: 'LIVE', stop: 1, action: 'long' })
  await leaveBehind('birch', 0)
  alerts.look(await overview())
  const message =
    'alder has not decided the bar that was due 10 minutes ago, and subscribers hold its long: check `highwater live` and its feed'
  expect(sent).toMatchObject([{ kind: 'live_behind', subject: 'alder', message }])
})

test('an alert says why no seal is signed, or that none was for half an hour, and metrics show both, but not of a service that is not to seal', async () => {
  const { alerts, sent, clock } = start()
  alerts.look(await overview())
  await redis.hset(SEAL_STATE, { to: NOW_MS - 1_860_000 })
  alerts.look(await overview())
  await redis.hset(SEAL_STATE, { refused: 'nothing is sealed: the clock is behind: set it' })
  clock.ms += 3_600_000
  alerts.look(await overview())
  expect(sent.map(({ kind, message }) => [kind, message])).toEqual([
    ['seal_behind', 'seal 42 ended 31 minutes ago, and none follows: see the log of the process'],
    ['seal_refused', 'nothing is sealed: the clock is behind: set it; the newest seal is 42'],
  ])
  const { text } = await createMetrics(overview).read()
  expect(text).toMatch(/^highwater_seal_age_seconds 1860$/m)
  expect(text).toMatch(/^highwater_seals_refused 1$/m)
  await redis.hset(SEAL_STATE, { refused: SEALS_OFF })
  alerts.look(await overview())
  expect((await createMetrics(overview).read()).text).not.toMatch(/^highwater_seals?_/m)
  await redis.del(SEAL_STATE) // as before the first seal
  alerts.look(await overview())
  expect(sent).toHaveLength(2)
})

test('an alert names a gap in the feed of a live strategy, once', async () => {
  const { alerts, sent, clock } = start()
  await leaveGap('alder')
  const found = await overview()
  alerts.look(found)
  clock.ms += 3_600_000
  alerts.look({ ...found, live: found.live.map(status => ({ ...status, atMs: clock.ms })) })
  const message =
    'alder: 3 bars are missing before 2026-11-20T00:00:00Z, and it goes on without; compare its bars with those of your vendor, or halt it with `highwater ops live halt alder`'
  expect(sent).toMatchObject([{ kind: 'live_gap', subject: 'alder before 2026-11-20T00:00:00Z', message }])
})

const start = () => {
  const sent: SentAlert[] = []
  const clock = { ms: NOW_MS }
  const alerts = createAlerts(
    alert => sent.push(alert),
    () => clock.ms,
  )
  const kinds = (): AlertKind[] => sent.map(({ kind }) => kind)
  const subjects = () => sent.map(({ kind, subject }) => [kind, subject])
  return { sent, clock, alerts, kinds, subjects }
}

test('an alert is raised once an hour for the same problem, with the number that was suppressed', () => {
  const { sent, clock, alerts } = start()
  for (let i = 0; i < 3; i++) alerts.onEvent({ kind: 'exhausted', destination: 'acme', seq: i })
  expect(sent).toHaveLength(1)
  clock.ms += 3_600_000
  alerts.onEvent({ kind: 'exhausted', destination: 'acme', seq: 9 })
  for (let count = 11; count < 600; count++) alerts.onGuessing(count)
  const message = expect.stringContaining('11 wrong operator tokens in a minute')
  expect(sent.slice(1)).toMatchObject([
    { kind: 'exhausted', subject: 'acme', repeated: 2 },
    { kind: 'token_guessing', message },
  ])
})

test('each change of a webhook raises an alert with the key or the link that made it, and how it is undone, however many other alerts the minute had', () => {
  const { sent, alerts, kinds } = start()
  for (let i = 0; i < 30; i++) alerts.onEvent({ kind: 'exhausted', destination: `c${i}`, seq: i })
  sent.length = 0
  const by = { kind: 'key', id: 'abcd1234' } as const
  for (let i = 0; i < 30; i++) alerts.onWebhook({ destination: 'acme', change: 'set', by })
  alerts.onWebhook({ destination: 'birch', change: 'set', by: OPERATOR })
  alerts.onWebhook({ destination: 'cedar', change: 'suspended', by })
  alerts.onWebhook({ destination: 'acme/b', change: 'set', by: { kind: 'link', id: 'jane' } })
  expect(kinds()).toEqual(Array.from({ length: 33 }, () => 'webhook_changed'))
  expect(sent[0]?.message).toContain('highwater ops keys revoke abcd1234')
  expect(sent[30]?.message).toContain('through the operator interface')
  expect(sent[31]?.message).toContain('is suspended')
  expect(sent[32]?.message).toMatch(
    /by a link made by jane: .*clients suspend acme`.*webhook remove acme --endpoint b`/,
  )
})

test('alerts are limited to twenty a minute, with the number of the others afterwards', () => {
  const { sent, clock, alerts } = start()
  const storm = () => {
    for (let i = 0; i < 100; i++) alerts.onEvent({ kind: 'exhausted', destination: `c${i}`, seq: 1 })
  }
  storm()
  expect(sent).toHaveLength(20)
  clock.ms += 60_000
  alerts.look(new Error('ECONNREFUSED'))
  expect(sent.slice(20).map(({ kind }) => kind)).toEqual(['more', 'redis_down'])
  expect(sent[20]?.message).toMatch(/^and 80 more .*: 80 exhausted;/)
  storm()
  expect(sent).toHaveLength(41)
  clock.ms += 60_000
  alerts.raise({ kind: 'failing', subject: 'acme', message: 'a sentence' })
  expect(sent.slice(41).map(({ message }) => message)).toEqual([
    expect.stringMatching(/^and 61 more /),
    'a sentence',
  ])
})

test('an alert on a fault of ours is raised after three in a row: by client, or once for all if it is the network', () => {
  const { subjects, alerts } = start()
  const fault = { kind: 'our fault', seq: 7 } as const
  for (const client of ['acme', 'birch'])
    for (const inARow of [1, 2, 3, 4]) {
      alerts.onEvent({ ...fault, destination: client, reason: 'program_error', inARow })
      alerts.onEvent({ ...fault, destination: client, reason: 'resolver_down', inARow })
    }
  expect(subjects()).toEqual([
    ['our_fault', 'acme'],
    ['our_fault', 'resolver_down'],
    ['our_fault', 'birch'],
  ])
})

test('an alert on the disk of Redis is raised at 70 and at 85 %, each once', async () => {
  const good = await relayed()
  const { subjects, alerts } = start()
  for (const used of [null, 0.69, 0.7, 0.84, 0.85, 0.99]) alerts.look(good, used)
  expect(subjects()).toEqual([
    ['redis_full', 'disk at 70 %'],
    ['redis_full', 'disk at 85 %'],
  ])
})

test('an alert on a failing webhook is raised at each of its stages', () => {
  const { sent, alerts } = start()
  for (const forMs of [300_000, 3_600_000, 86_400_000, 172_800_000])
    alerts.onEvent({ kind: 'failing', destination: 'acme', forMs })
  expect(sent.map(({ subject }) => subject)).toEqual(
    ['5', '60', '1440', '2880'].map(minutes => `acme for ${minutes} min`),
  )
})

test('alerts are raised for what is wrong with the service, and for nothing if all is well', async () => {
  const good = await relayed()
  const problems = { isWriting: false, problems: ['appendonly is no'] }
  const full = { ...good.redis, limit_bytes: 100, used_bytes: 90, ...problems }
  const { kinds, alerts } = start()
  alerts.look(good)
  alerts.look({ ...good, isRelayed: false })
  expect(kinds()).toEqual([])
  alerts.look({ ...good, redis: full, relayLag: 4, isRelayed: false })
  expect(kinds()).toEqual(['redis_unsafe', 'redis_full', 'redis_full', 'relay_stuck'])
  alerts.look(new Error('ECONNREFUSED'))
  expect(kinds().at(-1)).toBe('redis_down')
})

test('an alert is raised for a relay that holds its lease and does not get past a signal, such as a damaged one', async () => {
  const good = { ...(await relayed()), seq: 9 }
  const { sent, alerts } = start()
  for (const relayLag of [3, 2, 0, 0]) alerts.look({ ...good, relayLag }) // it moves on, and is done
  alerts.look({ ...good, seq: 10, relayLag: 1 })
  expect(sent).toEqual([])
  alerts.look({ ...good, seq: 12, relayLag: 3 })
  expect(sent).toMatchObject([
    { kind: 'relay_stuck', message: expect.stringContaining('past signal 9, and 3 signals wait') },
  ])
})

const AT = { at: '2026-11-21T00:00:05Z', repeated: 0 }
const ALERT: SentAlert = { kind: 'disabled', subject: 'acme', message: 'a sentence', ...AT }

/** Sends it by what the environment names, and gives what is logged meanwhile. */
async function sendAlert(env: Record<string, string>): Promise<readonly string[]> {
  const errors: string[] = []
  await createAlertChannel(parseEnvironment(env, '/srv'), env, message => errors.push(message))(ALERT)
  return errors
}

test('an alert goes to an address and to a command, which gets no secret of ours', async () => {
  const got: string[] = []
  const url = await listenForTest(
    createServer(async (request, response) => {
      got.push(`${request.method} ${await textOf(request)}`)
      response.end()
    }),
  )
  const file = join(await temporaryFolder(), 'alert')
  const ALERT_COMMAND = `cat > ${file}; env >> ${file}`
  const errors = await sendAlert({ ALERT_URL: url, ALERT_COMMAND, SECRET: 'HIDDEN', PATH: process.env.PATH! })
  expect([got, errors]).toEqual([[`POST ${JSON.stringify(ALERT)}`], []])
  const written = await readFile(file, 'utf8')
  expect(written).toContain(JSON.stringify(ALERT))
  expect(written).not.toContain('HIDDEN')
})

test('an alert that cannot be sent is logged without the address and the command', async () => {
  const env = { ALERT_URL: 'http://127.0.0.1:9/HIDDEN', ALERT_COMMAND: 'exit 3 # HIDDEN' }
  expect(await sendAlert(env)).toEqual([
    'an alert (disabled) could not be sent: ALERT_URL does not answer',
    'an alert (disabled) could not be sent: ALERT_COMMAND ended with 3',
  ])
})

test('the log of a whole run holds no secret of it, no key and no query string', async () => {
  const lines: string[] = []
  const random = seededBytes('run')
  const log = createLog('debug', { write: line => lines.push(line) }, () => NOW_MS, [TOKEN])
  const request = operatorClient(
    operatorParts(redis, {
      random,
      onAnswered: ({ requestId, ...answered }) =>
        log.info('answered', { request_id: requestId, ...answered }),
      onError: error => log.error('a request failed', error),
      metrics: async () => {
        throw new Error(`cannot reach redis://user:${TOKEN}@host/?password=hunter2`)
      },
    }),
  )
  const { token } = await addClient(redis, 'zeta', ['alder'], random)
  const set = await request('PUT', '/ops/clients/zeta/webhook', {
    url: 'https://example.org/private-path?key=hunter2',
  })
  const key = await request('POST', '/ops/clients/zeta/keys')
  const hidden = [...`${set.text}${key.text}`.matchAll(/whsec_[\w+/=]+|hw_live_\w+/g)].map(([text]) => text)
  expect(hidden).toHaveLength(2)
  await request('GET', `/ops/clients/${token}?api_key=${token}`)
  await request('GET', '/metrics')
  log.error('sent', new Error(`a header was authorization: Bearer ${token}`), {
    token,
    note: `with ${hidden[0]}`,
  })
  const text = lines.join('')
  expect(lines.length).toBeGreaterThan(4)
  expect(text).toContain('"route":"/ops/clients/:client","status":404')
  expect(text).toContain('"error":"Error: cannot reach')
  for (const secret of [...hidden, token, TOKEN, 'hunter2', 'private-path'])
    expect(text).not.toContain(secret)
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ time: '2026-11-21T00:00:05.000Z' })
})
