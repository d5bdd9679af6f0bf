// Why a webhook is not registered: in full for the operator, in one sentence for whoever registers it by itself.
import { type AddressRules, checkUrl, RefusedAddressError } from './address-guard.ts'
import type { Outcome } from './outcome.ts'

/** To a subscriber the one answer to whatever went wrong at the address, so that nobody learns from it what is there. */
export const NOT_ACKNOWLEDGED = 'the test fire was not acknowledged with 2xx at that address'

/**
 * What is wrong with the address itself, so that no test is written for one that nothing is ever sent to; null where
 * nothing is.
 */
export function refusalOfUrl(url: string, rules: AddressRules): string | null {
  try {
    checkUrl(url, rules)
    return null
  } catch (error) {
    if (error instanceof RefusedAddressError) return error.message
    throw error
  }
}

/** What came of the test instead of 2xx, null where it was acknowledged. It repeats no address and nothing that was answered. */
export function refusalOfAnswer(outcome: Outcome): string | null {
  if (outcome.kind === 'delivered') return null
  const reason = outcome.reason.replaceAll('_', ' ')
  if (outcome.kind === 'ourFault') return `the test fire could not be sent, by a fault of ours: ${reason}`
  const what =
    outcome.status === null
      ? reason
      : `it answered ${outcome.status}${outcome.reason === 'status' ? '' : `, ${reason}`}`
  return `${NOT_ACKNOWLEDGED}: ${what}`
}
