// Deliveries that the service signed, as the client verifies them.
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { signedHeaders } from '#signals/send/sign.ts'
import { verifyWebhook } from '../../../clients/typescript/src/index.ts'
import { OTHER_SECRET, SECRET } from '../../support/signals/receiver-kit.ts'
import { NOW_MS, signalContent } from '../../support/signals/signals.ts'
import { rejection } from './watched-service.ts'

const SIGNAL = { schema_version: '1.0', seq: 42, ...signalContent('alder-1'), added_later: 'é' }
const BODY = new TextEncoder().encode(JSON.stringify(SIGNAL))
const NOW = { nowMs: NOW_MS }

/** What the service sends while these secrets are in force, the newest first. */
const sign = (secrets: readonly string[], body: Uint8Array = BODY) =>
  signedHeaders({ body, id: 'alder-1', seq: 42, prevSeq: 40, attempt: 1, sentAtMs: NOW_MS }, secrets)

type Given = Parameters<typeof verifyWebhook>

/** A delivery that is signed with a secret and verified with it at once, but for what a test says. */
const given = (
  headers: Given[0] = sign([SECRET]),
  body: Given[1] = BODY,
  secret: Given[2] = SECRET,
  options: Given[3] = NOW,
): Given => [headers, body, secret, options]
const BOTH = sign([OTHER_SECRET, SECRET])
const later = (ms: number, more = {}) => given(undefined, BODY, SECRET, { nowMs: NOW_MS + ms, ...more })

test.each<[string, Given]>([
  ['with the headers of fetch', given(new Headers(sign([SECRET])))],
  ['with the headers of Node', given({ ...sign([SECRET]), accept: undefined, 'x-a': ['b', 'c'] })],
  ['with its body as the bytes of Node', given(undefined, Buffer.from(BODY))],
  ['with its body as text', given(undefined, new TextDecoder().decode(BODY))],
  ['with a new secret, while both sign', given(BOTH, BODY, OTHER_SECRET)],
  ['with an old secret, while both sign', given(BOTH)],
  ['with both secrets, before the new one signs', given(undefined, BODY, [OTHER_SECRET, SECRET])],
  ['at the end of the tolerance', later(295_000)],
])('a signed delivery is accepted %s', async (_what, order) => {
  expect(await verifyWebhook(...order)).toEqual({ signal: SIGNAL, prevSeq: 40 })
})

test('a delivery is accepted if another implementation of Standard Webhooks signed it', async () => {
  const at = new Date(NOW_MS)
  const headers = {
    'webhook-id': 'alder-1',
    'webhook-timestamp': String(Math.floor(NOW_MS / 1000)),
    'webhook-signature': new Webhook(SECRET).sign('alder-1', at, new TextDecoder().decode(BODY)),
  }
  expect(await verifyWebhook(headers, BODY, SECRET, NOW)).toEqual({ signal: SIGNAL, prevSeq: 0 })
})

const badSignature = { name: 'HighwaterError', code: 'bad_signature', status: 401 }
const SIGNATURE = sign([SECRET])['webhook-signature']!
const changed = (name: string, value: string) => given({ ...sign([SECRET]), [`webhook-${name}`]: value })

test.each<[string, Given]>([
  ['by another secret', given(undefined, BODY, OTHER_SECRET)],
  ['without a secret', given(undefined, BODY, [])],
  ['with another body', given(undefined, new Uint8Array([...BODY, 32]))],
  ['with another id', changed('id', 'alder-2')],
  ['with another time', changed('timestamp', String(NOW_MS / 1000 + 1))],
  ['after the tolerance', later(301_000)],
  ['before the tolerance', later(-301_000)],
  ['after a shorter tolerance', later(20_000, { toleranceSeconds: 10 })],
  ['without any header', given({})],
  ['with a time that is no number', changed('timestamp', 'NaN')],
  ['with a signature that is no base64', changed('signature', 'v1,%%%')],
  ['with a signature of another scheme', changed('signature', SIGNATURE.replace('v1,', 'v1a,'))],
  ['behind more signatures than are sent', changed('signature', `${'v1,AAAA '.repeat(8)}${SIGNATURE}`)],
])('a delivery is refused with 401 %s', async (_what, order) => {
  expect(await rejection(verifyWebhook(...order))).toMatchObject(badSignature)
})

test.each(['null', '7', '{}', '{"signal_id":"a","seq":"7"}', '{"event":"a","seq":7}', 'no JSON'])(
  'a body that is signed and no signal is refused: %s',
  async text => {
    const body = new TextEncoder().encode(text)
    const error = await rejection(verifyWebhook(sign([SECRET], body), body, SECRET, NOW))
    expect(error).toMatchObject({ code: 'bad_request', status: 400 })
  },
)

test('a signed notice is handed to the receiver and refused with 204 and never taken for a signal, and an unsigned one is neither', async () => {
  const notice = {
    event: 'endpoint_failing',
    at: '2026-11-28T04:00:00Z',
    endpoint: 'backup',
    key_id: null,
    reason: 'a',
  }
  const body = new TextEncoder().encode(JSON.stringify(notice))
  const seen: unknown[] = []
  const verify = (secret: string, options = {}) =>
    rejection(verifyWebhook(sign([SECRET], body), body, secret, { ...NOW, ...options }))
  const onNotice = (each: unknown) => seen.push(each)
  for (const options of [{}, { onNotice }])
    expect(await verify(SECRET, options)).toMatchObject({ code: 'notice', status: 204 })
  expect(await verify(OTHER_SECRET, { onNotice })).toMatchObject(badSignature)
  expect(seen).toEqual([notice])
  const both = { ...SIGNAL, event: 'of a later version' }
  const text = JSON.stringify(both)
  const signed = sign([SECRET], new TextEncoder().encode(text))
  expect((await verifyWebhook(signed, text, SECRET, NOW)).signal).toEqual(both)
})

test.each(['', 'a password', 'whsec_', 'whsec_***'])(
  "a receiver's secret that is none is refused: '%s'",
  async secret => {
    expect(await rejection(verifyWebhook(sign([SECRET]), BODY, secret, NOW))).toBeInstanceOf(TypeError)
  },
)
