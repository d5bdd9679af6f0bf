// The self-test of receivers: a sound one passes, every flaw is found and named, and nobody could trade on what is sent.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { signal } from '#core/contract/signal.ts'
import { isFit, runCases, selfTestCases } from '#signals/self-test.ts'
import { rawAnswer, startRawReceiver } from '../support/signals/raw-receiver.ts'
import { OTHER_SECRET, SECRET } from '../support/signals/receiver-kit.ts'
import { type Flaw, selfTest, startFlawedReceiver } from '../support/signals/self-test.ts'
import { createTestSender } from '../support/signals/sender.ts'
import { NOW_MS } from '../support/signals/signals.ts'

const casesFor = (url: string, oldSecret: string | null = OTHER_SECRET) =>
  selfTestCases({ url, secret: SECRET, oldSecret, alias: 'alder', nowMs: NOW_MS })

async function findingsOf(url: string) {
  return runCases(casesFor(url), createTestSender())
}

type Judged = { readonly name: string; readonly verdict: string }

const named = (findings: readonly Judged[], wanted: string): string[] =>
  findings.filter(({ verdict }) => verdict === wanted).map(({ name }) => name)

test('a sound receiver passes every case of the self-test', async () => {
  const findings = await findingsOf(await startFlawedReceiver([SECRET, OTHER_SECRET], null))
  expect(isFit(findings)).toBe(true)
  expect(named(findings, 'passed')).toHaveLength(15)
  expect(named(findings, 'noted')).toEqual(['a delivery of ten minutes ago'])
})

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

test.each(Object.entries(FOUND))(
  'a receiver that %s fails the self-test for that, with what to fix',
  async (flaw, expected) => {
    const findings = await findingsOf(await startFlawedReceiver([SECRET, OTHER_SECRET], flaw as Flaw)) // a key of the record
    expect(new Set(named(findings, 'failed'))).toEqual(new Set(expected))
    expect(isFit(findings)).toBe(false)
    for (const { verdict, advice } of findings) if (verdict === 'failed') expect(advice).not.toBe('')
  },
)

test('a receiver that redirects is followed nowhere, and passes no case of the self-test', async () => {
  const findings = await findingsOf(await startFlawedReceiver([SECRET], 'redirects'))
  expect(named(findings, 'passed')).toEqual([])
  expect(findings[0]).toMatchObject({ verdict: 'failed', told: 'answered 302' })
})

test('a receiver that is slow fails the self-test for that alone, with how long it may take', async () => {
  const sender = createTestSender()
  const findings = await runCases(casesFor(await startFlawedReceiver([SECRET, OTHER_SECRET], null)), {
    send: async post => {
      const outcome = await sender.send(post)
      return outcome.kind === 'ourFault' ? outcome : { ...outcome, total_ms: 1_001 }
    },
  })
  expect(named(findings, 'failed')).toEqual(['an answer at once'])
  expect(findings[1]).toMatchObject({ told: 'it took 1001 ms' })
})

test('a receiver that does not answer is sent nothing more after the first delivery', async () => {
  const receiver = await startRawReceiver(socket => socket.destroy())
  const findings = await findingsOf(`${receiver.origin}/`)
  expect(receiver.requests).toHaveLength(1)
  expect(findings[0]).toMatchObject({ verdict: 'failed', told: 'no answer: connection lost' })
  expect(named(findings, 'skipped')).toHaveLength(findings.length - 1)
})

test('every signal of the self-test is a valid one, a test and a dry run, with a number among the first, and signed now, or ten minutes ago if it is to be of then', () => {
  for (const [name, , , post] of casesFor('https://hooks.example.org/')) {
    const sent = signal.parse(JSON.parse(new TextDecoder().decode(post.body)))
    expect(sent).toMatchObject({ is_test: true, mode: 'DRY_RUN', alias: 'alder' })
    expect(sent.seq).toBeLessThanOrEqual(3)
    expect(post.headers['x-signal-seq']).toBe(String(sent.seq))
    expect(post.headers['webhook-id']).toBe(sent.signal_id)
    const agoMs = name === 'a delivery of ten minutes ago' ? 600_000 : 0
    expect([name, post.headers['webhook-timestamp']]).toEqual([name, String((NOW_MS - agoMs) / 1_000)])
  }
})

test('the self-test without an old secret tests no rotation', () => {
  const names = casesFor('https://hooks.example.org/', null).map(([name]) => name)
  expect(names).toHaveLength(13)
  expect(names.join()).not.toContain('old secret')
})

const report = z.strictObject({
  receiver: z.string(),
  fit: z.boolean(),
  findings: z.array(
    z.strictObject({ name: z.string(), verdict: z.string(), told: z.string(), advice: z.string() }),
  ),
})

test('ops self-test fails for a flawed receiver, prints what to fix, and takes secrets from the environment', async () => {
  const url = await startFlawedReceiver([SECRET], 'takes everything')
  const { code, out, err } = await selfTest([url, '--allow-loopback'], { WEBHOOK_SECRET: SECRET })
  expect(out).toMatch(/^FAILED {2}no signature +answered 204\n +anyone who finds the address/m)
  expect(err).toContain('a rotation was not tested')
  expect([code, err]).toEqual([1, expect.stringContaining('does not pass yet')])
})

test('ops self-test --json prints one document', async () => {
  const url = await startFlawedReceiver([SECRET], 'compares the beginning only')
  const { code, out } = await selfTest([url, '--secret', SECRET, '--allow-loopback', '--json'])
  const { fit, findings } = report.parse(JSON.parse(out))
  expect([fit, named(findings, 'failed')]).toEqual([false, ['half a signature']])
  expect(code).toBe(1)
})

test.each([
  [['http://127.0.0.1:8090/', '--secret', SECRET], '--allow-loopback lets it be of this machine'],
  [['hooks.example.org', '--secret', SECRET], 'expected a URL such as'],
  [['https://10.0.0.1/', '--secret', SECRET], 'the webhook is refused'],
  [['https://hooks.example.org/'], 'give the secret of the receiver'],
  [['https://hooks.example.org/', '--secret', 'whsec_short'], '--secret: expected a secret such as'],
  [['https://hooks.example.org/', '--secret', SECRET, '--old-secret', 'x'], '--old-secret: expected'],
])('ops self-test refuses the arguments %j', async (args, message) => {
  const { code, out, err } = await selfTest(args)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(message)
  expect(err).not.toContain('whsec_short')
})

test('ops self-test quotes no secret, whatever a receiver answers', async () => {
  const receiver = await startRawReceiver((socket, { head }) => socket.end(rawAnswer(200, head + SECRET)))
  const args = [`${receiver.origin}/`, '--secret', SECRET, '--allow-loopback', '--json']
  const { out, err } = await selfTest(args)
  expect(out + err).not.toContain(SECRET)
})
