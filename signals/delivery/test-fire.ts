// Signals that are doubly no order: `is_test`, and `DRY_RUN`. Each has a number of its own, and one client sees it.

import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import type { SignalContent } from '#core/contract/signal.ts'
import { findClient } from '../clients/clients.ts'
import { commit } from '../log/commit.ts'
import type { LoggedSignal } from '../log/read-log.ts'

/** Of the test that a registration sends by itself: the relay passes it over. */
const REGISTRATION = 'webhook-test-'

/** Of a test that the operator fires, which goes the way of every signal. */
const FIRED = 'test-'

/** What a test is for. */
export type TestPurpose = 'registration' | 'fire'

/** Prices of a test: round, and nobody's. */
const TEST_PRICE = 1

/**
 * The content of a test under an alias. It is a `flat`: a receiver that heeds neither `is_test` nor the mode takes risk off
 * and never on. `token` makes its id unique.
 */
export const testContent = (
  purpose: TestPurpose,
  alias: string,
  token: string,
  nowMs: number,
): SignalContent => ({
  signal_id: (purpose === 'registration' ? REGISTRATION : FIRED) + token,
  alias,
  mode: 'DRY_RUN',
  is_test: true,
  action: 'flat',
  signal_price: TEST_PRICE,
  stop: TEST_PRICE,
  base_risk_pct: 0,
  timestamp: toIsoInstant(nowMs),
  implied_leverage: 0,
})

/** Whether a signal is the test of a registration. An operator's own id that looks like one is for nobody alone. */
export const isRegistrationTest = ({ onlyFor, body }: LoggedSignal): boolean =>
  onlyFor !== null && signalIdOf(body).startsWith(REGISTRATION)

/** The `signal_id` of a signal's bytes. */
export function signalIdOf(body: string): string {
  const { signal_id } = JSON.parse(body) as { signal_id: string } // the log holds signals alone
  return signal_id
}

export type FireTestParts = {
  readonly redis: Redis
  readonly now: () => number
  /** A name that nobody else has. */
  readonly newToken: () => string
  /** The strategies of the served dataset: the first one stands in for a client that is entitled to none yet. */
  readonly aliases: () => readonly string[]
}

/**
 * Fires a test for one client, which goes the way of every signal: log, ledger, queue, webhook. Resolves with its number
 * when it is on the disk. Throws `not_found`, `conflict` without any alias, or RedisDownError.
 */
export async function fireTest(parts: FireTestParts, client: string): Promise<number> {
  const alias = await testAliasOf(parts, client)
  return commitTest(parts, client, testContent('fire', alias, parts.newToken(), parts.now()))
}

/** The alias under which a client gets a test: its own first one, else the first there is. */
export async function testAliasOf({ redis, aliases }: FireTestParts, client: string): Promise<string> {
  const record = await findClient(redis, client)
  const alias = record.aliases[0] ?? aliases()[0]
  if (alias !== undefined) return alias
  throw new ApiError(
    'conflict',
    `a test needs the alias of a strategy: entitle '${client}' to one, or publish a dataset first`,
  )
}

/** Writes a test to the log, for one client alone. */
export async function commitTest(
  { redis, now }: FireTestParts,
  client: string,
  content: ReturnType<typeof testContent>,
): Promise<number> {
  const outcome = await commit(redis, [{ content, onlyFor: client }], now())
  if (outcome.kind !== 'committed') throw new Error('a test has no cursor to miss, and no halt keeps it back')
  return outcome.signals[0]!.seq // one was committed
}
