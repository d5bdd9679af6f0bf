// Sends the cases to a receiver one after another and judges the answers.
import type { Outcome } from '../outcome.ts'
import { SUSPECT_AFTER_MS } from '../policy.ts'
import type { Sender } from '../send.ts'
import type { Case } from './cases.ts'

export type Verdict = 'passed' | 'failed' | 'noted' | 'skipped'

export type Finding = {
  readonly name: string
  readonly verdict: Verdict
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
  const observed = describe(outcome)
  const answer = answerOf(outcome)
  if (expected === 'either' && answer !== 'neither') return { name, verdict: 'noted', told: observed, advice }
  return answer === expected
    ? { name, verdict: 'passed', told: observed, advice: '' }
    : { name, verdict: 'failed', told: observed, advice }
}

/** No answer: the subject of the case does not matter yet. */
const unreached = ({ name }: Case, outcome: Outcome): Finding => ({
  name,
  verdict: 'failed',
  told: describe(outcome),
  advice:
    'start the receiver, and see that its address, its port and its certificate can be reached from here',
})

const promptness = (totalMs: number): Finding => ({
  name: 'an answer at once',
  verdict: totalMs <= SUSPECT_AFTER_MS ? 'passed' : 'failed',
  told: `it took ${totalMs} ms`,
  advice:
    totalMs <= SUSPECT_AFTER_MS
      ? ''
      : `answer within ${SUSPECT_AFTER_MS} ms and work afterwards: slower receivers are served after the others`,
})

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
