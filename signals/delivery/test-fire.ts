// Test signals: `is_test` and `DRY_RUN`, so doubly no orders. Each has a number and is visible to one client.

import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import type { SignalContent } from '#core/contract/signal.ts'
import { findClient } from '../clients/clients.ts'
import { commit } from '../log/commit.ts'
import type { LoggedSignal } from '../log/read-log.ts'

/** Prefix of tests sent by a registration: the relay skips them. */
const REGISTRATION = 'webhook-test-'

/** Prefix of tests fired by the operator, delivered like every signal. */
const FIRED = 'test-'

export type TestPurpose = 'registration' | 'fire'

const TEST_PRICE = 1

/**
 * The content of a test. It is a `flat`: a receiver that ignores `is_test` and the mode only reduces risk. `token`
 * makes its id unique.
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

/**
 * Whether a signal is the test of a registration. An operator's id that looks like one is not addressed to a single
 * client.
 */
export const isRegistrationTest = ({ onlyFor, body }: LoggedSignal): boolean =>
  onlyFor !== null && signalIdOf(body).startsWith(REGISTRATION)

export function signalIdOf(body: string): string {
  const { signal_id } = JSON.parse(body) as { signal_id: string } // the log holds signals alone
  return signal_id
}

export type FireTestParts = {
  readonly redis: Redis
  readonly now: () => number
  /** A unique name. */
  readonly newToken: () => string
  /** The strategies of the served dataset: the first is used for a client that is entitled to none. */
  readonly aliases: () => readonly string[]
}

/**
 * Fires a test for one client, delivered like every signal. Resolves with its number once it is on disk. Throws
 * `not_found`, `conflict` without any alias, or RedisDownError.
 */
export async function fireTest(parts: FireTestParts, client: string): Promise<number> {
  const alias = await testAliasOf(parts, client)
  return commitTest(parts, client, testContent('fire', alias, parts.newToken(), parts.now()))
}

/** The alias of a client's tests: its own first one, else the first there is. */
export async function testAliasOf({ redis, aliases }: FireTestParts, client: string): Promise<string> {
  const record = await findClient(redis, client)
  const alias = record.aliases[0] ?? aliases()[0]
  if (alias !== undefined) return alias
  throw new ApiError(
    'conflict',
    `a test needs the alias of a strategy: entitle '${client}' to one, or publish a dataset first`,
  )
}

export async function commitTest(
  { redis, now }: FireTestParts,
  client: string,
  content: ReturnType<typeof testContent>,
): Promise<number> {
  const outcome = await commit(redis, [{ content, onlyFor: client }], now())
  if (outcome.kind !== 'committed') throw new Error('a test has no cursor to miss, and no halt keeps it back')
  return outcome.signals[0]!.seq // one was committed
}
