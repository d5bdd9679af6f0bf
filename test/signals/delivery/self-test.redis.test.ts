// The self-test of receivers: a sound one passes, every flaw is found and named, and nobody could trade on what is sent.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { Command } from 'commander'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { addSelfTest } from '#cli/commands/ops/self-test.ts'
import { signal } from '#core/contract/signal.ts'
import { createSecretBox, parseKeyRing } from '#signals/delivery/secret-box.ts'
import { selfTestCases } from '#signals/delivery/self-test/cases.ts'
import { isFit, runCases } from '#signals/delivery/self-test/run-cases.ts'
import { saveWebhook } from '#signals/delivery/webhooks.ts'
import { madeUp } from '../../cli/made-up.ts'
import { startTestRedis, type TestRedis } from '../../support/servers/redis.ts'
import { rawAnswer, startRawReceiver } from '../../support/signals/raw-receiver.ts'
import { OTHER_SECRET, SECRET } from '../../support/signals/receiver-kit.ts'
import { createTestSender } from '../../support/signals/sender.ts'
import { NOW_MS, seededBytes } from '../../support/signals/signals.ts'

const SECRET_KEY = `k1:${Buffer.alloc(32, 1).toString('base64')}`
const BOX = createSecretBox(parseKeyRing(SECRET_KEY), seededBytes('box'))

const casesFor = (url: string, oldSecret: string | null = OTHER_SECRET) =>
  selfTestCases({ url, secret: SECRET, oldSecret, alias: 'alder', nowMs: NOW_MS })

async function findingsOf(url: string) {
  const sender = createTestSender()
  return runCases(casesFor(url), sender).finally(() => sender.close())
}

type Judged = { readonly name: string; readonly verdict: string }

const named = (findings: readonly Judged[], wanted: string): string[] =>
  findings.filter(({ verdict }) => verdict === wanted).map(({ name }) => name)

test('a sound receiver passes every case', async () => {
  const findings = await findingsOf(await startFlawedReceiver([SECRET, OTHER_SECRET], null))
  expect(isFit(findings)).toBe(true)
  expect(named(findings, 'passed')).toHaveLength(15)
  expect(named(findings, 'noted')).toEqual(['a delivery of ten minutes ago'])
})

describe('a receiver that', () => {
  const refused = ['a wrong signature', 'no signature', 'half a signature', 'a body altered after signing']
  const FOUND: Record<Exclude<Flaw, 'redirects'>, readonly string[]> = {
    'takes everything': refused,
    'takes what has no signature': ['no signature'],
    'compares the beginning only': ['half a signature'],
    'signs what it has parsed': ['a body altered after signing'],
    'knows the new secret only': ['signed with the old secret'],
    'refuses what it has seen': [
      'the same again',
      'large headers',
      'an unknown field',
      'signed with the old secret',
      'signed with both secrets',
    ],
    'refuses what comes late': ['one that was overtaken'],
    'refuses unknown fields': ['an unknown field'],
    'refuses tests that would be entries': ['a test that says long', 'a test that says short'],
    'takes small headers only': ['large headers'],
    'breaks instead of refusing': refused,
  }

  test.each(Object.entries(FOUND))('%s fails for that, and is told what to mend', async (flaw, expected) => {
    const findings = await findingsOf(await startFlawedReceiver([SECRET, OTHER_SECRET], flaw as Flaw)) // a key of the record
    expect(new Set(named(findings, 'failed'))).toEqual(new Set(expected))
    expect(isFit(findings)).toBe(false)
    for (const { verdict, advice } of findings) if (verdict === 'failed') expect(advice).not.toBe('')
  })

  test('redirects is followed nowhere, and passes nothing', async () => {
    const findings = await findingsOf(await startFlawedReceiver([SECRET], 'redirects'))
    expect(named(findings, 'passed')).toEqual([])
    expect(findings[0]).toMatchObject({ verdict: 'failed', told: 'answered 302' })
  })

  test('is slow fails for that alone, and is told how long it may take', async () => {
    const sender = createTestSender()
    const findings = await runCases(casesFor('http://127.0.0.1:9/'), {
      send: async ({ headers, body }) => {
        const outcome = await findOutcome(headers, body)
        return { ...outcome, totalMs: 1_001 }
      },
    })
    await sender.close()
    expect(named(findings, 'failed')).toEqual(['an answer at once'])
    expect(findings[1]).toMatchObject({ told: 'it took 1001 ms' })
  })

  test('is not there is sent nothing more after the first delivery', async () => {
    const receiver = await startRawReceiver(socket => socket.destroy())
    const findings = await findingsOf(`${receiver.origin}/`)
    await receiver.close()
    expect(receiver.requests).toHaveLength(1)
    expect(findings[0]).toMatchObject({ verdict: 'failed', told: 'no answer: connection lost' })
    expect(named(findings, 'skipped')).toHaveLength(findings.length - 1)
  })
})

/** What a sound receiver would answer, by the headers that the case was to have. */
async function findOutcome(headers: Readonly<Record<string, string>>, body: Uint8Array) {
  const url = await startFlawedReceiver([SECRET, OTHER_SECRET], null)
  const sender = createTestSender()
  const outcome = await sender.send({ url, headers, body, secrets: [] })
  await sender.close()
  if (outcome.kind === 'ourFault') throw new Error(outcome.reason)
  return outcome
}

test('every signal that is sent is a valid one, a test and a dry run, with a number among the first', () => {
  for (const { post } of casesFor('https://hooks.example.org/')) {
    const sent = signal.parse(JSON.parse(new TextDecoder().decode(post.body)))
    expect(sent).toMatchObject({ is_test: true, mode: 'DRY_RUN', alias: 'alder' })
    expect(sent.seq).toBeLessThanOrEqual(3)
    expect(post.headers['x-signal-seq']).toBe(String(sent.seq))
    expect(post.headers['webhook-id']).toBe(sent.signal_id)
  }
})

test('without an old secret no rotation is tested', () => {
  const names = casesFor('https://hooks.example.org/', null).map(({ name }) => name)
  expect(names).toHaveLength(13)
  expect(names.join()).not.toContain('old secret')
})

describe('the command', () => {
  const report = z.strictObject({
    receiver: z.string(),
    fit: z.boolean(),
    findings: z.array(
      z.strictObject({ name: z.string(), verdict: z.string(), told: z.string(), advice: z.string() }),
    ),
  })

  /** `ops self-test ...args`: what it printed, and the error that it ended with. */
  async function selfTest(args: readonly string[], env: Record<string, string> = {}) {
    const { surroundings, out, err } = madeUp({ env, now: () => NOW_MS })
    const program = new Command('highwater').exitOverride()
    addSelfTest(program.command('ops'), surroundings)
    const error = await program.parseAsync(['ops', 'self-test', ...args], { from: 'user' }).then(
      () => null,
      (thrown: unknown) => String(thrown),
    )
    return { out: out(), err: err(), error }
  }

  test('prints a line a case for a sound receiver', async () => {
    const url = await startFlawedReceiver([SECRET, OTHER_SECRET], null)
    const { out, err, error } = await selfTest([
      url,
      '--secret',
      SECRET,
      '--old-secret',
      OTHER_SECRET,
      '--allow-loopback',
    ])
    expect([err, error]).toEqual(['', null])
    expect(out).toMatch(/^passed {2}a good delivery +answered 204\n/)
    expect(out.match(/^passed /gm)).toHaveLength(15)
  })

  test('fails for a flawed one, says what to mend, and takes secrets from the environment', async () => {
    const url = await startFlawedReceiver([SECRET], 'takes everything')
    const { out, err, error } = await selfTest([url, '--allow-loopback'], { WEBHOOK_SECRET: SECRET })
    expect(out).toMatch(/^FAILED {2}no signature +answered 204\n +whoever finds the address/m)
    expect(err).toContain('a rotation was not tested')
    expect(error).toContain('is not fit for signals yet')
  })

  test('prints one document with --json', async () => {
    const url = await startFlawedReceiver([SECRET], 'compares the beginning only')
    const { out, error } = await selfTest([url, '--secret', SECRET, '--allow-loopback', '--json'])
    const { fit, findings } = report.parse(JSON.parse(out))
    expect([fit, named(findings, 'failed')]).toEqual([false, ['half a signature']])
    expect(error).not.toBeNull()
  })

  test.each([
    [['http://127.0.0.1:8090/', '--secret', SECRET], '--allow-loopback lets it be of this machine'],
    [['hooks.example.org', '--secret', SECRET], 'expected a URL such as'],
    [['https://10.0.0.1/', '--secret', SECRET], 'the webhook is refused'],
    [['https://hooks.example.org/'], 'give the secret of the receiver'],
    [['https://hooks.example.org/', '--secret', 'whsec_short'], '--secret: expected a secret such as'],
    [['https://hooks.example.org/', '--secret', SECRET, '--old-secret', 'x'], '--old-secret: expected'],
  ])('refuses %j', async (args, told) => {
    const { out, error } = await selfTest(args)
    expect(out).toBe('')
    expect(error).toMatch(/^UsageError: /)
    expect(error).toContain(told)
    expect(error).not.toContain('whsec_short')
  })

  describe('for a client', () => {
    let server: TestRedis
    let redis: Redis
    const env = () => ({ REDIS_URL: server.url, SECRET_KEY, ALLOW_PRIVATE_WEBHOOKS: 'yes' })

    beforeAll(async () => {
      server = await startTestRedis()
      redis = await server.connect()
    })
    afterAll(() => server.stop())

    test('sends to its webhook what its secrets in force have signed', async () => {
      const url = await startFlawedReceiver([SECRET, OTHER_SECRET], null)
      const secrets = [
        { text: SECRET, expiresAtMs: null },
        { text: OTHER_SECRET, expiresAtMs: NOW_MS + 1 },
      ]
      await saveWebhook(redis, BOX, { client: 'acme', url, secrets })
      const { out, err, error } = await selfTest(['acme'], env())
      expect([err, error]).toEqual(['', null])
      expect(out.match(/^passed /gm)).toHaveLength(15)
    })

    test('names the option that its address on this machine needs', async () => {
      const url = await startFlawedReceiver([SECRET], null)
      await saveWebhook(redis, BOX, { client: 'here', url, secrets: [{ text: SECRET, expiresAtMs: null }] })
      const told = { REDIS_URL: server.url, SECRET_KEY }
      const { out, error } = await selfTest(['here'], told)
      expect([out, error]).toEqual([
        '',
        expect.stringContaining('--allow-loopback lets it be of this machine'),
      ])
      expect((await selfTest(['here', '--allow-loopback'], told)).error).toBeNull()
    })

    test.each([
      [['nobody'], "the client 'nobody' has no webhook"],
      [['acme', '--secret', SECRET], 'the secrets of acme are those of its webhook'],
    ])('refuses %j', async (args, told) => {
      expect((await selfTest(args, env())).error).toContain(told)
    })
  })

  test('quotes no secret, whatever a receiver says', async () => {
    const receiver = await startRawReceiver((socket, { head }) => socket.end(rawAnswer(200, head + SECRET)))
    const { out, err } = await selfTest([
      `${receiver.origin}/`,
      '--secret',
      SECRET,
      '--allow-loopback',
      '--json',
    ])
    await receiver.close()
    expect(out + err).not.toContain(SECRET)
  })
})

type Flaw =
  | 'takes everything'
  | 'takes what has no signature'
  | 'compares the beginning only'
  | 'signs what it has parsed'
  | 'knows the new secret only'
  | 'refuses what it has seen'
  | 'refuses what comes late'
  | 'refuses unknown fields'
  | 'refuses tests that would be entries'
  | 'takes small headers only'
  | 'breaks instead of refusing'
  | 'redirects'

const sent = z.looseObject({
  signal_id: z.string(),
  seq: z.int(),
  action: z.string(),
  is_test: z.literal(true),
})

/** More than the ordinary headers of a delivery have. */
const SMALL_HEADERS = 2_000

/** Starts it and gives its address; it is gone after the test. */
async function startFlawedReceiver(secrets: readonly string[], flaw: Flaw | null): Promise<string> {
  const answer = createAnswer(secrets, flaw)
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      response.writeHead(answer(Buffer.concat(chunks), request.headers, request.rawHeaders.join('').length))
      response.end('said')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/hook`
}

function createAnswer(secrets: readonly string[], flaw: Flaw | null) {
  const seen = new Set<string>()
  let lastSeq = 0
  return (body: Buffer, headers: IncomingHttpHeaders, headerLength: number): number => {
    if (flaw === 'redirects') return 302
    if (flaw === 'takes small headers only' && headerLength > SMALL_HEADERS) return 431
    if (!isSigned(body, headers, secrets, flaw)) return flaw === 'breaks instead of refusing' ? 500 : 401
    const { signal_id, seq, action, a_field_of_the_future } = sent.parse(JSON.parse(body.toString()))
    if (flaw === 'refuses unknown fields' && a_field_of_the_future !== undefined) return 422
    if (flaw === 'refuses what it has seen' && seen.has(signal_id)) return 409
    if (flaw === 'refuses what comes late' && seq === 2 && lastSeq === 3) return 400
    if (flaw === 'refuses tests that would be entries' && action !== 'flat') return 400
    seen.add(signal_id)
    lastSeq = seq
    return 204
  }
}

function isSigned(
  body: Buffer,
  { 'x-signature': given = '' }: IncomingHttpHeaders,
  secrets: readonly string[],
  flaw: Flaw | null,
): boolean {
  if (flaw === 'takes everything') return true
  if (flaw === 'takes what has no signature' && given === '') return true
  const text = flaw === 'signs what it has parsed' ? JSON.stringify(JSON.parse(body.toString())) : body
  const known = flaw === 'knows the new secret only' ? secrets.slice(0, 1) : secrets
  return known.some(secret => {
    const expected = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`
    if (flaw === 'compares the beginning only') return given !== '' && expected.startsWith(String(given))
    return (
      given.length === expected.length && timingSafeEqual(Buffer.from(String(given)), Buffer.from(expected))
    )
  })
}
