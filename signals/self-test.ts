// The cases that a receiver must pass before it is trusted with signals: deliveries that it must accept, and
// some that it must reject. They are sent one after another, and each answer is compared with what the case expects.
import { createHash } from 'node:crypto'
import { type SignalAction, toHalves } from '#core/contract/signal.ts'
import { FIRED, testContent } from './outbox/test-fire.ts'
import type { Outcome } from './send/outcome.ts'
import { SUSPECT_AFTER_MS } from './send/policy.ts'
import type { Post, Sender } from './send/send.ts'
import { createWebhookSecret, type Delivery, signedHeaders } from './send/sign.ts'

type SelfTestOrder = {
  readonly url: string
  readonly secret: string
  /** The secret before the current one, null if none. */
  readonly oldSecret: string | null
  readonly alias: string
  readonly nowMs: number
}

/**
 * `expected` is 2xx, 4xx, or either, which is only reported. The advice says what to fix if the receiver answers otherwise; for
 * `either`, what its choice means.
 */
type Case = readonly [name: string, expected: 'accepted' | 'refused' | 'either', advice: string, post: Post]

/** More than the five minutes that Standard Webhooks allows. */
const STALE_MS = 10 * 60_000

/** With the ordinary headers this is about what proxies add; common servers accept twice as much. */
const PADDING_HEADERS = 4
const PADDING_CHARACTERS = 1_000

const ANY_ACTION = 'a test can carry any action: acknowledge it, and never trade it'
const VERIFIED = 'answer 2xx to what is signed: key the HMAC with the secret as it was shown, whsec_ and all'
const TAKE_ANY_ORDER =
  'deliveries overtake one another when one is tried again: acknowledge, put them in order by seq, pull what is missing'
const VERIFY =
  'anyone who finds the address could make you trade: compare X-Signature with sha256= and the hex HMAC-SHA256 of the raw body, ' +
  'in constant time, and answer 401 where they differ'
const VERIFY_BYTES = `verify the bytes that came, before they are parsed: ${VERIFY}`
const TAKE_BOTH = 'while a secret is being changed both are in force: accept what either of them has signed'
const FURTHER_FIELDS = 'let further fields through: they may come one day'

/**
 * The cases in the order in which they are sent. Every signal is a test and a dry run with a low number, so that a
 * receiver which looks only at numbers does not take it for the newest.
 */
export const selfTestCases = (order: SelfTestOrder): readonly Case[] => [
  ...acceptedCases(order),
  ...rotationCases(order),
  ...refusedCases(order),
  staleCase(order),
]

const acceptedCases = (order: SelfTestOrder): Case[] => [
  ['a good delivery', 'accepted', VERIFIED, postOf(order)],
  ['the same again', 'accepted', 'acknowledge a duplicate with 2xx', postOf(order, { attempt: 2 })],
  ['one after a gap', 'accepted', TAKE_ANY_ORDER, postOf(order, { seq: 3 })],
  ['one that was overtaken', 'accepted', TAKE_ANY_ORDER, postOf(order, { seq: 2 })],
  ['a test that says long', 'accepted', ANY_ACTION, postOf(order, { action: 'long' })],
  ['a test that says short', 'accepted', ANY_ACTION, postOf(order, { action: 'short' })],
  ['an unknown field', 'accepted', FURTHER_FIELDS, postOf(order, { further: A_FURTHER_FIELD })],
  ['large headers', 'accepted', 'take headers of 8 KiB in all: proxies add theirs', padded(postOf(order))],
]

const A_FURTHER_FIELD = ',"a_field_of_the_future":{"nested":[1,null]}'

function rotationCases(order: SelfTestOrder): Case[] {
  const { secret, oldSecret } = order
  if (oldSecret === null) return []
  return [
    ['signed with the old secret', 'accepted', TAKE_BOTH, postOf(order, { secrets: [oldSecret] })],
    ['signed with both secrets', 'accepted', TAKE_BOTH, postOf(order, { secrets: [secret, oldSecret] })],
  ]
}

function refusedCases(order: SelfTestOrder): Case[] {
  const good = postOf(order)
  const { 'x-signature': single = '', 'webhook-signature': standard = '', ...bare } = good.headers
  const half = { ...bare, 'x-signature': single.slice(0, 39), 'webhook-signature': standard.slice(0, 25) }
  return [
    ['a wrong signature', 'refused', VERIFY, postOf(order, { secrets: [WRONG_SECRET] })],
    ['no signature', 'refused', VERIFY, { ...good, headers: bare }],
    ['half a signature', 'refused', `compare the whole text: ${VERIFY}`, { ...good, headers: half }],
    ['a body altered after signing', 'refused', VERIFY_BYTES, { ...good, body: altered(good.body) }],
  ]
}

const staleCase = (order: SelfTestOrder): Case => [
  'a delivery of ten minutes ago',
  'either',
  'refused where webhook-timestamp is verified (Standard Webhooks), accepted by X-Signature, which has no time in it: ' +
    'then de-duplication on signal_id is what makes a repetition harmless',
  postOf(order, { sentAtMs: order.nowMs - STALE_MS }),
]

const WRONG_SECRET = createWebhookSecret(() => createHash('sha256').update('no secret of anybody').digest())

/** How the signals of the self-test differ from the content of a test, which is a long. */
const CHANGES = {
  long: {},
  short: { stop: 1_300 },
  flat: { base_risk_pct: 0, implied_leverage: 0, why: 'signal' },
} as const

/** How a delivery of the self-test differs from a good one of its first signal; `further` is text after the last field of the body. */
type Differences = Partial<Pick<Delivery, 'seq' | 'attempt' | 'sentAtMs'>> & {
  readonly action?: SignalAction
  readonly further?: string
  readonly secrets?: readonly string[]
}

function postOf(
  { url, secret, oldSecret, alias, nowMs }: SelfTestOrder,
  differences: Differences = {},
): Post {
  const { seq = 1, action = 'flat', attempt = 1, sentAtMs = nowMs } = differences
  const { further = '', secrets = [secret] } = differences
  const id = `${FIRED}self-${nowMs}-${seq}-${action}`
  const { head, tail } = toHalves({ ...testContent(id, nowMs), alias, action, ...CHANGES[action] })
  const body = new TextEncoder().encode(`${head}${seq}${tail.slice(0, -1)}${further}}`)
  const headers = signedHeaders({ body, id, seq, prevSeq: seq - 1, attempt, sentAtMs }, secrets)
  return { url, headers, body, secrets: oldSecret === null ? [secret] : [secret, oldSecret] }
}

function padded(post: Post): Post {
  const padding = 'p'.repeat(PADDING_CHARACTERS)
  const more = Array.from({ length: PADDING_HEADERS }, (_, i) => [`x-padding-${i}`, padding])
  return { ...post, headers: { ...post.headers, ...Object.fromEntries(more) } }
}

/** The same signal with a blank at its end: equal as JSON, but signed differently. */
const altered = (body: Uint8Array): Uint8Array => new Uint8Array([...body, 0x20])

export type Finding = {
  readonly name: string
  readonly verdict: 'passed' | 'failed' | 'noted' | 'skipped'
  readonly told: string
  /** What to fix, or what it means; empty if passed. */
  readonly advice: string
}

/**
 * Runs the cases. If the first one does not reach the receiver, the others are skipped. Rejects only for errors of
 * the program.
 */
export async function runCases(cases: readonly Case[], sender: Pick<Sender, 'send'>) {
  const findings: Finding[] = []
  for (const each of cases) {
    const isFirst = findings.length === 0
    const outcome = await sender.send(each[3])
    const found = findingOf(each, outcome)
    if (isFirst && (outcome.kind === 'ourFault' || outcome.status === null))
      return [{ ...found, advice: UNREACHED }, ...cases.slice(1).map(skipped)] // its own subject does not matter yet
    findings.push(found)
    if (isFirst && outcome.kind === 'delivered') findings.push(promptness(outcome.total_ms))
  }
  return findings
}

export const isFit = (findings: readonly Finding[]): boolean =>
  findings.every(({ verdict }) => verdict === 'passed' || verdict === 'noted')

function findingOf([name, expected, advice]: Case, outcome: Outcome): Finding {
  const answer = answerOf(outcome)
  const isNoted = expected === 'either' && answer !== 'neither'
  const verdict = isNoted ? 'noted' : answer === expected ? 'passed' : 'failed'
  return { name, verdict, told: describe(outcome), advice: verdict === 'passed' ? '' : advice }
}

const UNREACHED =
  'start the receiver, and see that its address, its port and its certificate can be reached from here'

const skipped = ([name]: Case): Finding => ({ name, verdict: 'skipped', told: 'not sent', advice: '' })

const SLOW = `answer within ${SUSPECT_AFTER_MS} ms and work afterwards: slower receivers are served after the others`

function promptness(totalMs: number): Finding {
  const found = { name: 'an answer at once', told: `it took ${totalMs} ms` }
  if (totalMs <= SUSPECT_AFTER_MS) return { ...found, verdict: 'passed', advice: '' }
  return { ...found, verdict: 'failed', advice: SLOW }
}

/** A complete 4xx is a refusal; 5xx, redirects and broken answers are neither. */
function answerOf(outcome: Outcome): 'accepted' | 'refused' | 'neither' {
  if (outcome.kind === 'delivered') return 'accepted'
  const isComplete = outcome.kind === 'failed' && outcome.reason === 'status'
  return isComplete && /^4/.test(String(outcome.status)) ? 'refused' : 'neither'
}

function describe(outcome: Outcome): string {
  if (outcome.kind === 'ourFault') return `not sent, ${REASONS[outcome.reason] ?? outcome.reason}`
  if (outcome.kind === 'delivered' || outcome.reason === 'status') return `answered ${outcome.status}`
  const whatCame = outcome.status === null ? 'no answer' : `a broken answer with status ${outcome.status}`
  return `${whatCame}: ${outcome.reason.replaceAll('_', ' ')}`
}

/** Faults on our side. */
const REASONS: Readonly<Record<string, string>> = {
  resolver_down: 'no name server answered',
  network_down: 'this machine has no route to it',
}
