// The cases that a receiver must pass before it is trusted with signals: deliveries that it must accept, and
// some that it must reject. They are sent one after another, and the answers judged.
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

type Case = {
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

const ANY_ACTION = 'a test can carry any action: acknowledge it, and never trade it'
const VERIFIED = 'answer 2xx to what is signed: key the HMAC with the secret as it was shown, whsec_ and all'
const TAKE_ANY_ORDER =
  'deliveries overtake one another when one is tried again: acknowledge, put them in order by seq, pull what is missing'
const VERIFY =
  'anyone who finds the address could make you trade: compare X-Signature with sha256= and the hex HMAC-SHA256 of the raw body, ' +
  'in constant time, and answer 401 where they differ'

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

const accepted = (name: string, advice: string, post: Post): Case => ({
  name,
  expected: 'accepted',
  advice,
  post,
})

function acceptedCases(order: SelfTestOrder): Case[] {
  const first = signalOf(order, 1)
  return [
    accepted('a good delivery', VERIFIED, postOf(order, first)),
    accepted('the same again', 'acknowledge a duplicate with 2xx', postOf(order, first, { attempt: 2 })),
    accepted('one after a gap', TAKE_ANY_ORDER, postOf(order, signalOf(order, 3))),
    accepted('one that was overtaken', TAKE_ANY_ORDER, postOf(order, signalOf(order, 2))),
    ...(['long', 'short'] as const).map(action =>
      accepted(`a test that says ${action}`, ANY_ACTION, postOf(order, signalOf(order, 1, action))),
    ),
    accepted(
      'an unknown field',
      'let further fields through: they may come one day',
      postOf(order, widened(first)),
    ),
    accepted(
      'large headers',
      'take headers of 8 KiB in all: proxies add theirs',
      padded(postOf(order, first)),
    ),
  ]
}

function rotationCases(order: SelfTestOrder): Case[] {
  const { secret, oldSecret } = order
  if (oldSecret === null) return []
  const advice = 'while a secret is being changed both are in force: accept what either of them has signed'
  const signedBy = (secrets: readonly string[]) => postOf(order, signalOf(order, 1), {}, secrets)
  return [
    accepted('signed with the old secret', advice, signedBy([oldSecret])),
    accepted('signed with both secrets', advice, signedBy([secret, oldSecret])),
  ]
}

function refusedCases(order: SelfTestOrder): Case[] {
  const refused = (name: string, post: Post, before = ''): Case => ({
    name,
    expected: 'refused',
    advice: before + VERIFY,
    post,
  })
  const good = postOf(order, signalOf(order, 1))
  const { 'x-signature': single = '', 'webhook-signature': standard = '', ...bare } = good.headers
  const half = { ...bare, 'x-signature': single.slice(0, 39), 'webhook-signature': standard.slice(0, 25) }
  return [
    refused('a wrong signature', postOf(order, signalOf(order, 1), {}, [WRONG_SECRET])),
    refused('no signature', { ...good, headers: bare }),
    refused('half a signature', { ...good, headers: half }, 'compare the whole text: '),
    refused(
      'a body altered after signing',
      { ...good, body: altered(good.body) },
      'verify the bytes that came, before they are parsed: ',
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
  const id = `${FIRED}self-${nowMs}-${seq}-${action}`
  const content = { ...testContent(id, nowMs), alias, action, ...CHANGES[action] }
  const { head, tail } = toHalves(content)
  return { id, seq, body: `${head}${seq}${tail}` }
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
export async function runCases(
  cases: readonly Case[],
  sender: Pick<Sender, 'send'>,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  let isReached = true
  for (const [i, each] of cases.entries()) {
    if (!isReached) {
      findings.push({ name: each.name, verdict: 'skipped', told: 'not sent', advice: '' })
      continue
    }
    const outcome = await sender.send(each.post)
    if (i === 0) isReached = statusOf(outcome) !== null
    findings.push(isReached ? judge(each, outcome) : unreached(each, outcome))
    if (i === 0 && outcome.kind === 'delivered') findings.push(promptness(outcome.totalMs))
  }
  return findings
}

export const isFit = (findings: readonly Finding[]): boolean =>
  findings.every(({ verdict }) => verdict === 'passed' || verdict === 'noted')

function judge({ name, expected, advice }: Case, outcome: Outcome): Finding {
  const told = describe(outcome)
  const answer = answerOf(outcome)
  if (expected === 'either' && answer !== 'neither') return { name, verdict: 'noted', told, advice }
  return answer === expected
    ? { name, verdict: 'passed', told, advice: '' }
    : { name, verdict: 'failed', told, advice }
}

/** No answer: the subject of the case does not matter yet. */
const unreached = ({ name }: Case, outcome: Outcome): Finding => ({
  name,
  verdict: 'failed',
  told: describe(outcome),
  advice:
    'start the receiver, and see that its address, its port and its certificate can be reached from here',
})

function promptness(totalMs: number): Finding {
  const isPrompt = totalMs <= SUSPECT_AFTER_MS
  const advice = `answer within ${SUSPECT_AFTER_MS} ms and work afterwards: slower receivers are served after the others`
  return {
    name: 'an answer at once',
    verdict: isPrompt ? 'passed' : 'failed',
    told: `it took ${totalMs} ms`,
    advice: isPrompt ? '' : advice,
  }
}

const statusOf = (outcome: Outcome): number | null => (outcome.kind === 'ourFault' ? null : outcome.status)

/** A complete 4xx is a refusal; 5xx, redirects and broken answers are neither. */
function answerOf(outcome: Outcome): 'accepted' | 'refused' | 'neither' {
  if (outcome.kind === 'delivered') return 'accepted'
  const status = statusOf(outcome)
  const isRefusal =
    outcome.kind === 'failed' && outcome.reason === 'status' && status !== null && status >= 400
  return isRefusal && status <= 499 ? 'refused' : 'neither'
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
