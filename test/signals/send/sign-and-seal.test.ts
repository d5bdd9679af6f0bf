// What we sign, verified by the libraries that subscribers have.

import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { verify } from '@octokit/webhooks-methods'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { createSecretBox, parseKeyRing, SealError } from '#signals/outbox/secret-box.ts'
import { refusalOfHeaders, withOwnHeaders } from '#signals/send/headers.ts'
import { MOST_LIVE_SECRETS, SECRET_OVERLAP_MS } from '#signals/send/policy.ts'
import {
  createWebhookSecret,
  type Delivery,
  keyOfSecret,
  liveSecrets,
  rotateSecrets,
  signedHeaders,
  type WebhookSecret,
} from '#signals/send/sign.ts'
import { forAll } from '#test/support/for-all.ts'

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

const manyHeaders = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'v']))

test.each<[string | null, Record<string, string>]>([
  [
    null,
    { Authorization: 'Bearer hidden-value', 'X-Api-Key': 'k', accept_version: '2', Cookie: 'a=1; b="2"' },
  ],
  [null, manyHeaders(10)],
  [null, { 'x-long': 'v'.repeat(1_024) }],
  ['11 headers, and 10 are the most: leave some of them out', manyHeaders(11)],
  ...['', 'a b', 'hidden-value:', '-a', 'n'.repeat(65), 'ä', 'a\r\nb', '__proto__'].map(
    (name): [string, Record<string, string>] => [
      'the name of a header is 1 to 64 letters, digits, - and _, beginning with a letter or a digit',
      Object.fromEntries([[name, 'hidden-value']]),
    ],
  ),
  ...[
    'Connection',
    'Host',
    'Keep-Alive',
    'Proxy-Authorization',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
  ].map((name): [string, Record<string, string>] => [
    `the header '${name.toLowerCase()}' is that of a connection: leave it out`,
    { [name]: 'hidden-value' },
  ]),
  ...[
    ...Object.keys(signedHeaders(delivery(), [createWebhookSecret(randomBytes)])),
    ...[
      'Accept-Encoding',
      'Content-Length',
      'Content-Encoding',
      'X-Signal-Mode',
      'Webhook-Topic',
      'Highwater-Event',
    ],
  ].map((name): [string, Record<string, string>] => [
    `the header '${name.toLowerCase()}' is one of the service: choose another name`,
    { [name]: 'hidden-value' },
  ]),
  [
    "the header 'x-key' is there twice, in other capitals: leave one out",
    { 'x-key': 'a', 'X-Key': 'hidden-value' },
  ],
  ...[
    '',
    ' hidden-value',
    'hidden-value ',
    'a\tb',
    'a\r\nx-attempt: 1',
    'é',
    '\u0000',
    'v'.repeat(1_025),
  ].map((value): [string, Record<string, string>] => [
    "the value of the header 'x-key' is not 1 to 1024 printable ASCII characters without a blank at either end: encode it",
    { 'X-Key': value },
  ]),
])(
  'an endpoint with headers of its own is refused with %j, and no value is repeated: %j',
  (refusal, headers) => {
    expect(refusalOfHeaders(headers)).toBe(refusal)
    expect(refusal ?? '').not.toContain('hidden-value')
  },
)

test('a header of the endpoint never replaces one of the delivery, whatever was stored', () => {
  const ours = headersFor(secretsOf(1))
  const forged = Object.fromEntries(Object.keys(ours).map(name => [name.toUpperCase(), 'forged']))
  expect(withOwnHeaders({ ...forged, 'X-Tenant': 'blue' }, ours)).toEqual({ ...ours, 'x-tenant': 'blue' })
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

test('a rotation leaves no moment in which a receiver of Standard Webhooks with either secret is refused, and changes X-Signature to the newest at once', async () => {
  for (const atMs of [NOW, NOW + 86_400_000 - 1]) {
    const headers = headersFor(liveSecrets(after, atMs))
    expect(byStandard(first, headers)).toBe(true)
    expect(byStandard(second, headers)).toBe(true)
    expect(byStandard(third, headers)).toBe(false)
  }
  const during = headersFor(liveSecrets(after, NOW))
  expect([await byOctokit(second, during), await byOctokit(first, during)]).toEqual([true, false])
  const ended = headersFor(liveSecrets(after, NOW + 86_400_000))
  expect(byStandard(first, ended)).toBe(false)
  expect(byStandard(second, ended)).toBe(true)
})

test('a rotation during another one lengthens the life of no secret, and forgets those that are over; without an overlap it retires all others at once', () => {
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
  expect(rotateSecrets(after, third, NOW + 1, 0)).toEqual([{ text: third, expiresAtMs: null }])
})

test('a rotation that would make too many secrets is refused with the remedy, which works', () => {
  let secrets: readonly WebhookSecret[] = []
  for (const text of secretsOf(MOST_LIVE_SECRETS)) secrets = rotateSecrets(secrets, text, NOW)
  expect(() => rotateSecrets(secrets, first, NOW)).toThrow('rotate without an overlap')
  expect(rotateSecrets(secrets, first, NOW, 0)).toHaveLength(1)
})

/** A key that is easily found again in a message. */
const base64Of = (byte: number): string => Buffer.alloc(32, byte).toString('base64')

const OLD = `old:${base64Of(1)}`
const NEW = `new:${base64Of(2)}`
const boxOf = (ring: string) => createSecretBox(parseKeyRing(ring), randomBytes)

const CONTEXT = { client: 'acme', field: 'secrets' }

const messageOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    return inspect(error)
  }
  throw new Error('nothing was thrown')
}

test('a sealed secret opens to the same text, whatever it holds, and never looks the same twice', () => {
  const box = boxOf(NEW)
  forAll(fc.string({ unit: 'binary' }), fc.string(), fc.string(), (given, client, field) => {
    const text = given.toWellFormed()
    const sealed = box.seal(text, { client, field })
    expect(box.open(sealed, { client, field })).toBe(text)
    expect(box.seal(text, { client, field })).not.toBe(sealed)
    expect(sealed).toMatch(/^v1\.new\.[\w-]+$/)
  })
})

test('a sealed secret does not open for another client or field, nor if a separator could move between them', () => {
  const box = boxOf(NEW)
  const sealed = box.seal('whsec_x', CONTEXT)
  expect(() => box.open(sealed, { ...CONTEXT, client: 'other' })).toThrow(SealError)
  expect(() => box.open(sealed, { ...CONTEXT, field: 'url' })).toThrow(SealError)
  const joined = box.seal('x', { client: 'a","b', field: 'c' })
  expect(() => box.open(joined, { client: 'a', field: 'b","c' })).toThrow(SealError)
})

test('a sealed secret does not open if any bit of it was changed', () => {
  const box = boxOf(NEW)
  const sealed = box.seal('whsec_secret', CONTEXT)
  const bytes = Buffer.from(sealed.split('.')[2]!, 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    expect(() => box.open(`v1.new.${changed.toString('base64url')}`, CONTEXT)).toThrow(SealError)
  }
})

test.each([
  '',
  'whsec_plain',
  'v1.new',
  'v1.new.',
  'v1.new.AAAA',
  'v2.new.' + 'A'.repeat(60),
  'v1.new.' + 'A'.repeat(60) + '.x',
])('a stored secret of another form is refused with a sentence: %j', sealed => {
  expect(() => boxOf(NEW).open(sealed, CONTEXT)).toThrow('a stored secret is not sealed')
  expect(() => boxOf(NEW).isSealedByNewest(sealed)).toThrow(SealError)
})

test('a key ring opens what an older key sealed, seals with its first, and knows which key sealed what', () => {
  const sealed = boxOf(OLD).seal('whsec_x', CONTEXT)
  const ring = boxOf(`${NEW}, ${OLD}`)
  expect(ring.open(sealed, CONTEXT)).toBe('whsec_x')
  expect(ring.isSealedByNewest(sealed)).toBe(false)
  const again = ring.seal(ring.open(sealed, CONTEXT), CONTEXT)
  expect(ring.isSealedByNewest(again)).toBe(true)
  expect(boxOf(NEW).open(again, CONTEXT)).toBe('whsec_x')
})

test('a key ring that lacks a key names it, and one that has another key under its id says so', () => {
  const sealed = boxOf(OLD).seal('whsec_x', CONTEXT)
  expect(() => boxOf(NEW).open(sealed, CONTEXT)).toThrow('encrypted with the key old, which SECRET_KEY lacks')
  expect(() => boxOf(`old:${base64Of(3)}`).open(sealed, CONTEXT)).toThrow('another key under its id')
})

test.each([
  ['', 'entry 1 is not of the form id:base64'],
  [base64Of(7), 'entry 1 is not of the form id:base64'],
  [`${NEW},${base64Of(7)}`, 'entry 2 is not of the form id:base64'],
  [`${NEW},`, 'entry 2 is not of the form id:base64'],
  [`k 1:${base64Of(7)}`, 'entry 1 is not of the form id:base64'],
  [`k1:${base64Of(7)}:`, 'entry 1 is not of the form id:base64'],
  [`k1:${base64Of(7).slice(0, 24)}`, 'entry 1 holds 18 bytes and must hold 32'],
  [`k1:${base64Of(7)}AAAA`, 'entry 1'],
  [`${NEW},new:${base64Of(7)}`, 'entry 2 has the id of an earlier one'],
])(
  'a key ring that is not valid is refused by its place, and nothing of it is quoted: case %#',
  (ring, expected) => {
    const message = messageOf(() => parseKeyRing(ring))
    expect(message).toContain(expected)
    expect(message).not.toContain(base64Of(7).slice(0, 8))
    expect(message).not.toContain(base64Of(2).slice(0, 8))
  },
)

test('a key ring shows no key and no text, neither printed nor in what it throws', () => {
  const ring = parseKeyRing(NEW)
  const secrets = [
    base64Of(2).slice(0, 12),
    Buffer.alloc(32, 2).toString('hex').slice(0, 12),
    '<Buffer 02 02',
  ]
  const sealed = boxOf(NEW).seal('whsec_hidden', CONTEXT)
  const shown = [
    inspect(ring, { depth: null, showHidden: true }),
    inspect(boxOf(NEW), { depth: null }),
    sealed,
    messageOf(() => boxOf(NEW).open(sealed, { ...CONTEXT, client: 'other' })),
    messageOf(() => boxOf(OLD).open(sealed, CONTEXT)),
  ].join('\n')
  for (const secret of [...secrets, 'whsec_hidden']) expect(shown).not.toContain(secret)
})
