// Tells somebody when a new version cannot be served: once a cause, and once more when it is mended.
import { UnfitVersionError } from '#api/history/served-version.ts'
import type { RefreshOutcome } from '#api/history/version-source.ts'
import type { Alert } from '#signals/alerts.ts'

/** Looks that fail in a row before a store that is away is told: one or two are a moment's. */
const LOOKS_IN_A_ROW = 3

/** Told of every look at the pointer; `raise` of what somebody should know. */
export function createSwapAlerts(raise: (alert: Alert) => void): (outcome: RefreshOutcome) => void {
  let told: string | null = null
  let looks = 0
  let hasServed = false
  return outcome => {
    const fault = faultOf(outcome, hasServed)
    hasServed ||= outcome.kind === 'swapped' || outcome.kind === 'fallen back'
    if (fault === null) {
      if (told !== null) raise(MENDED)
      told = null
      looks = 0
      return
    }
    looks++
    if (fault.message === told || (fault.mayPass && looks < LOOKS_IN_A_ROW)) return
    told = fault.message
    raise({ kind: 'swap_failed', subject: 'history', message: `${fault.message}; ${WHAT_IS_SERVED}` })
  }
}

type Fault = { readonly message: string; readonly mayPass: boolean }

const WHAT_IS_SERVED = 'what was served before is served on: `highwater verify-store` tells what is wrong'

const MENDED: Alert = {
  kind: 'swap_mended',
  subject: 'history',
  message: 'the newest version is served again',
}

/** A version that is unfit stays so until somebody acts; a store that does not answer may do so at the next look. */
function faultOf(outcome: RefreshOutcome, hasServed: boolean): Fault | null {
  switch (outcome.kind) {
    case 'unchanged':
    case 'swapped':
      return null
    case 'empty': // before the first publication there is nothing to miss
      return hasServed ? { message: 'nothing is published any more', mayPass: true } : null
    case 'failed':
    case 'fallen back':
    case 'unlisted': {
      const { error } = outcome
      const message = error instanceof Error ? error.message : String(error)
      return { message, mayPass: !(error instanceof UnfitVersionError) }
    }
  }
}
