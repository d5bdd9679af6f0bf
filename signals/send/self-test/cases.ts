// The cases that a receiver must pass before it is trusted with signals: deliveries that it must accept, and
// some that it must reject.
import { createHash } from 'node:crypto'
import { type SignalAction, toHalves } from '#core/contract/signal.ts'
import { testContent } from '../../outbox/test-fire.ts'
import type { Post } from '../send.ts'
import { createWebhookSecret, type Delivery, signedHeaders } from '../sign.ts'

export type SelfTestOrder = {
  readonly url: string
  readonly secret: string
  /** The secret before the current one, null if none. */
  readonly oldSecret: string | null
  readonly alias: string
  readonly nowMs: number
}

export type Case = {
  readonly name: string
  /** 2xx, 4xx, or either, which is only reported. */
  readonly expected: 'accepted' | 'refused' | 'either'
  /** What to fix if the receiver answers otherwise; for `either`, what its choice means. */
  readonly advice: string
  readonly post: Post
}

/** More than the five minutes that Standard Webhooks allows. */
const STALE_MS = 10 * 60_000

/** With the ordinary headers this is about what proxies add; common servers accept twice as much. */
const PADDING_HEADERS = 4
const PADDING_CHARACTERS = 1_000

const TAKE_ANY_ORDER =
  'deliveries overtake one another when one is tried again: acknowledge, put them in order by seq, pull what is missing'
const VERIFY =
  'anyone who finds the address could make you trade: compare X-Signature with sha256= and the hex HMAC-SHA256 of the raw body, ' +
  'in constant time, and answer 401 where they differ'

/**
 * The cases in the order in which they are sent. Every signal is a test and a dry run with a low number, so that a
 * receiver which looks only at numbers does not take it for the newest.
 */
export function selfTestCases(order: SelfTestOrder): readonly Case[] {
  const accepted = acceptedCases(order)
  return [...accepted, ...rotationCases(order), ...refusedCases(order), staleCase(order)]
}

function acceptedCases(order: SelfTestOrder): Case[] {
  const take = (name: string, advice: string, post: Post): Case => ({
    name,
    expected: 'accepted',
    advice,
    post,
  })
  const first = signalOf(order, 1)
  const verified =
    'answer 2xx to what is signed: key the HMAC with the secret as it was shown, whsec_ and all'
  return [
    take('a good delivery', verified, postOf(order, first)),
    take('the same again', 'acknowledge a duplicate with 2xx', postOf(order, first, { attempt: 2 })),
    take('one after a gap', TAKE_ANY_ORDER, postOf(order, signalOf(order, 3))),
    take('one that was overtaken', TAKE_ANY_ORDER, postOf(order, signalOf(order, 2))),
    ...(['long', 'short'] as const).map(action =>
      take(
        `a test that says ${action}`,
        'a test can carry any action: acknowledge it, and never trade it',
        postOf(order, signalOf(order, 1, action)),
      ),
    ),
    take(
      'an unknown field',
      'let further fields through: they may come one day',
      postOf(order, widened(first)),
    ),
    take('large headers', 'take headers of 8 KiB in all: proxies add theirs', padded(postOf(order, first))),
  ]
}

function rotationCases(order: SelfTestOrder): Case[] {
  const { secret, oldSecret } = order
  if (oldSecret === null) return []
  const advice = 'while a secret is being changed both are in force: accept what either of them has signed'
  const signedBy = (name: string, secrets: readonly string[]): Case => ({
    name,
    expected: 'accepted',
    advice,
    post: postOf({ ...order, secret: secrets[0]! }, signalOf(order, 1), {}, secrets),
  })
  return [
    signedBy('signed with the old secret', [oldSecret]),
    signedBy('signed with both secrets', [secret, oldSecret]),
  ]
}

function refusedCases(order: SelfTestOrder): Case[] {
  const refuse = (name: string, post: Post, advice = VERIFY): Case => ({
    name,
    expected: 'refused',
    advice,
    post,
  })
  const good = postOf(order, signalOf(order, 1))
  const { 'x-signature': single = '', 'webhook-signature': standard = '', ...bare } = good.headers
  const half = { 'x-signature': single.slice(0, 39), 'webhook-signature': standard.slice(0, 25) }
  return [
    refuse('a wrong signature', postOf(order, signalOf(order, 1), {}, [WRONG_SECRET])),
    refuse('no signature', { ...good, headers: bare }),
    refuse(
      'half a signature',
      { ...good, headers: { ...bare, ...half } },
      `compare the whole text: ${VERIFY}`,
    ),
    refuse(
      'a body altered after signing',
      { ...good, body: altered(good.body) },
      `verify the bytes that came, before they are parsed: ${VERIFY}`,
    ),
  ]
}

const staleCase = (order: SelfTestOrder): Case => ({
  name: 'a delivery of ten minutes ago',
  expected: 'either',
  advice:
    'refused where webhook-timestamp is verified (Standard Webhooks), accepted by X-Signature, which has no time in it: ' +
    'then de-duplication on signal_id is what makes a repetition harmless',
  post: postOf(order, signalOf(order, 1), { sentAtMs: order.nowMs - STALE_MS }),
})

const WRONG_SECRET = createWebhookSecret(() => createHash('sha256').update('no secret of anybody').digest())

/** How the signals of the self-test differ from the content of a test, which is a long. */
const CHANGES = {
  long: {},
  short: { stop: 1_300 },
  flat: { base_risk_pct: 0, implied_leverage: 0, why: 'signal' },
} as const

type TestSignal = { readonly id: string; readonly seq: number; readonly body: string }

function signalOf({ alias, nowMs }: SelfTestOrder, seq: number, action: SignalAction = 'flat'): TestSignal {
  const token = `self-${nowMs}-${seq}-${action}`
  const content = { ...testContent('fire', token, nowMs), alias, action, ...CHANGES[action] }
  const { head, tail } = toHalves(content)
  return { id: content.signal_id, seq, body: `${head}${seq}${tail}` }
}

function postOf(
  { url, secret, oldSecret, nowMs }: SelfTestOrder,
  { id, seq, body }: TestSignal,
  more: Partial<Delivery> = {},
  secrets: readonly string[] = [secret],
): Post {
  const bytes = new TextEncoder().encode(body)
  const delivery = { body: bytes, id, seq, prevSeq: seq - 1, attempt: 1, sentAtMs: nowMs, ...more }
  const headers = signedHeaders(delivery, secrets)
  return { url, headers, body: bytes, secrets: oldSecret === null ? [secret] : [secret, oldSecret] }
}

const widened = ({ body, ...rest }: TestSignal): TestSignal => ({
  ...rest,
  body: `${body.slice(0, -1)},"a_field_of_the_future":{"nested":[1,null]}}`,
})

const padded = (post: Post): Post => ({
  ...post,
  headers: {
    ...post.headers,
    ...Object.fromEntries(
      Array.from({ length: PADDING_HEADERS }, (_, i) => [`x-padding-${i}`, 'p'.repeat(PADDING_CHARACTERS)]),
    ),
  },
})

/** The same signal with a blank at its end: equal as JSON, but signed differently. */
const altered = (body: Uint8Array): Uint8Array => new Uint8Array([...body, 0x20])
