// What we sign, verified by the libraries that subscribers have.
import { randomBytes } from 'node:crypto'
import { verify } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { MOST_LIVE_SECRETS, SECRET_OVERLAP_MS } from '#signals/delivery/policy.ts'
import {
  createWebhookSecret,
  type Delivery,
  keyOfSecret,
  liveSecrets,
  rotateSecrets,
  signedHeaders,
  type WebhookSecret,
} from '#signals/delivery/sign.ts'

/** The clock of the tests: standardwebhooks looks at the machine's, and refuses what is five minutes off. */
const NOW = Date.now()

const TEXT = '{"schema_version":"1.0","signal_id":"sig_é","seq":7,"note":"ключ 🔑"}'

const delivery = (more: Partial<Delivery> = {}): Delivery => ({
  body: new TextEncoder().encode(TEXT),
  id: 'sig_0123456789abcdef01234567',
  seq: 7,
  prevSeq: 4,
  attempt: 2,
  sentAtMs: NOW,
  ...more,
})

const headersFor = (secrets: readonly string[]) => signedHeaders(delivery(), secrets)

const byOctokit = (secret: string, headers: Record<string, string>, text = TEXT): Promise<boolean> =>
  verify(secret, text, headers['x-signature']!)

const byStandard = (secret: string, headers: Record<string, string>, text = TEXT): boolean => {
  try {
    new Webhook(secret).verify(text, headers)
    return true
  } catch {
    return false
  }
}

const secretsOf = (count: number) => Array.from({ length: count }, () => createWebhookSecret(randomBytes))

test('a delivery is verified by both libraries with the secret as it was shown', async () => {
  const [secret, other] = secretsOf(2) as [string, string] // as many as were asked for
  const headers = headersFor([secret])
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(await byOctokit(secret, headers)).toBe(true)
  expect(byStandard(secret, headers)).toBe(true)
  expect(await byOctokit(other, headers)).toBe(false)
  expect(byStandard(other, headers)).toBe(false)
})

test('a delivery is refused by both libraries if a byte of the body, the id or the time is another', async () => {
  const [secret] = secretsOf(1) as [string]
  const headers = headersFor([secret])
  const forged = TEXT.replace('"seq":7', '"seq":8')
  expect(await byOctokit(secret, headers, forged)).toBe(false)
  expect(byStandard(secret, headers, forged)).toBe(false)
  expect(byStandard(secret, { ...headers, 'webhook-id': 'sig_other' })).toBe(false)
  const later = String(Number(headers['webhook-timestamp']) + 1)
  expect(byStandard(secret, { ...headers, 'webhook-timestamp': later })).toBe(false)
})

test('the headers of a delivery have its number, the one before it, and the attempt', () => {
  const headers = signedHeaders(delivery({ sentAtMs: Date.parse('2026-11-21T00:00:01.234Z') }), secretsOf(1))
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Highwater-Webhooks/1',
    'webhook-id': 'sig_0123456789abcdef01234567',
    'webhook-timestamp': '1795219201',
    'x-signal-seq': '7',
    'x-prev-seq': '4',
    'x-attempt': '2',
    'x-sent-at': '2026-11-21T00:00:01.234Z',
  })
})

test('a delivery without a secret is not sent unsigned, and one with a secret of another form neither', () => {
  expect(() => headersFor([])).toThrow('needs a secret')
  for (const text of ['', 'plain', 'whsec_', 'whsec_AAAA', `whsec_${'A'.repeat(200)}`]) {
    expect(() => keyOfSecret(text)).toThrow('a webhook secret is whsec_ and 32 bytes in base64')
    expect(() => headersFor([text])).toThrow()
  }
})

const [first, second, third] = secretsOf(3) as [string, string, string] // as many as were asked for
const before: readonly WebhookSecret[] = [{ text: first, expiresAtMs: null }]
const after = rotateSecrets(before, second, NOW)

test('a rotation signs with both secrets for 24 hours, to the millisecond, then with the new one alone', () => {
  expect(SECRET_OVERLAP_MS).toBe(86_400_000)
  expect(liveSecrets(before, NOW)).toEqual([first])
  expect(liveSecrets(after, NOW)).toEqual([second, first])
  expect(liveSecrets(after, NOW + 86_400_000 - 1)).toEqual([second, first])
  expect(liveSecrets(after, NOW + 86_400_000)).toEqual([second])
})

test('a rotation leaves no moment in which a receiver of Standard Webhooks with either secret is refused', () => {
  for (const atMs of [NOW, NOW + 86_400_000 - 1]) {
    const headers = headersFor(liveSecrets(after, atMs))
    expect(byStandard(first, headers)).toBe(true)
    expect(byStandard(second, headers)).toBe(true)
    expect(byStandard(third, headers)).toBe(false)
  }
  const ended = headersFor(liveSecrets(after, NOW + 86_400_000))
  expect(byStandard(first, ended)).toBe(false)
  expect(byStandard(second, ended)).toBe(true)
})

test('a rotation changes X-Signature to the newest secret at once', async () => {
  const during = liveSecrets(after, NOW)
  expect(await byOctokit(second, headersFor(during))).toBe(true)
  expect(await byOctokit(first, headersFor(during))).toBe(false)
})

test('a rotation without an overlap retires the other secrets at once', () => {
  const leaked = rotateSecrets(after, third, NOW + 1, 0)
  expect(leaked).toEqual([{ text: third, expiresAtMs: null }])
})

test('a rotation during another one lengthens the life of no secret, and forgets those that are over', () => {
  const again = rotateSecrets(after, third, NOW + 1_000)
  expect(again).toEqual([
    { text: third, expiresAtMs: null },
    { text: second, expiresAtMs: NOW + 1_000 + 86_400_000 },
    { text: first, expiresAtMs: NOW + 86_400_000 },
  ])
  expect(rotateSecrets(again, 'whsec_x', NOW + 2 * 86_400_000).map(({ text }) => text)).toEqual([
    'whsec_x',
    third,
  ])
})

test('a rotation that would make too many secrets is refused with the remedy, which works', () => {
  let secrets: readonly WebhookSecret[] = []
  for (const text of secretsOf(MOST_LIVE_SECRETS)) secrets = rotateSecrets(secrets, text, NOW)
  expect(() => rotateSecrets(secrets, first, NOW)).toThrow('rotate without an overlap')
  expect(rotateSecrets(secrets, first, NOW, 0)).toHaveLength(1)
})
