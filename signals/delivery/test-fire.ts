// Signals that are doubly no order: `is_test`, and `DRY_RUN`. Each has a number of its own, and one client sees it.
import { toIsoInstant } from '#core/calendar.ts'
import type { SignalContent } from '#core/contract/signal.ts'
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
