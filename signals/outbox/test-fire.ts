// Test signals: `is_test` and `DRY_RUN`, of an alias that no strategy can have. Each has a number, goes to one
// destination, and is visible to its client.

import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import type { SignalContent } from '#core/contract/signal.ts'
import { findClient } from '../clients/clients.ts'
import { commit } from '../log/commit.ts'
import { type LoggedSignal, signalIdOf } from '../log/read-log.ts'
import { clientOf, type Destination } from './destination.ts'

/** Begins the id of a test that a registration sends: the relay skips it. */
export const REGISTRATION = 'webhook-test-'

/** Begins the id of every other test, which is delivered like every signal. */
export const FIRED = 'test-'

/** The id of a strategy has no capitals, so a receiver that ignores `is_test` and the mode knows no such product. */
const TEST_ALIAS = 'TEST-INSTRUMENT'

/** The content of a test: an entry as a strategy gives it, of a made-up instrument. */
export const testContent = (signal_id: string, nowMs: number): SignalContent => ({
  signal_id,
  alias: TEST_ALIAS,
  mode: 'DRY_RUN',
  is_test: true,
  action: 'long',
  signal_price: 1_250,
  stop: 1_200,
  base_risk_pct: 0.02,
  timestamp: toIsoInstant(nowMs),
  implied_leverage: 0.5,
  by: 'strategy',
})

/**
 * Whether a signal is the test of a registration. An operator's id that looks like one is not addressed to a single
 * client.
 */
export const isRegistrationTest = ({ onlyFor, body }: LoggedSignal): boolean =>
  onlyFor !== null && signalIdOf(body).startsWith(REGISTRATION)

export type FireTestParts = {
  readonly redis: Redis
  readonly now: () => number
  /** A unique name. */
  readonly newToken: () => string
}

/**
 * Fires a test for one destination, delivered like every signal, which its client sees. Resolves with its number once it is on disk. Throws
 * `not_found` or RedisDownError.
 */
export async function fireTest(parts: FireTestParts, destination: Destination): Promise<number> {
  await findClient(parts.redis, clientOf(destination))
  return commitTest(parts, destination, FIRED)
}

export async function commitTest(
  { redis, now, newToken }: FireTestParts,
  destination: Destination,
  beginning: string,
) {
  const content = testContent(beginning + newToken(), now())
  const outcome = await commit(redis, [{ content, onlyFor: destination }], now())
  if (outcome.kind !== 'committed') throw new Error('a test has no cursor to miss, and no halt keeps it back')
  return outcome.signals[0]!.seq // one was committed
}
