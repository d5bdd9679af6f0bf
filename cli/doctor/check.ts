// What `highwater doctor` finds: checks, each with what it saw and what to do.
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, remedied } from '#storage/error-code.ts'
import type { Stores } from '#storage/object-store.ts'
import type { Runtime } from '../runtime.ts'
import type { Environment } from '../settings/environment.ts'

/** As the plugins of monitoring systems end, and as the metrics have it. */
export const LEVEL_OF = { ok: 0, skipped: 0, warning: 1, problem: 2 } as const

/** The result of a check: one sentence without its full stop, and what to do if something is wrong. */
export type Finding = {
  readonly check: string
  readonly state: keyof typeof LEVEL_OF
  readonly says: string
  readonly fix: string | null
}

export type Installation = Stores & {
  readonly runtime: Runtime
  readonly environment: Environment
  /** Whether this machine only serves, so that it need not write into the stores. */
  readonly isReadOnly: boolean
}

type Found = Omit<Finding, 'check'>

/** Without it there is nothing to look at: the public store can be read, the clock is right. */
export type Need = 'store' | 'clock'

/** Looks at one thing, and changes nothing. What it throws is a problem. */
export type Check = {
  readonly check: string
  readonly needs: readonly Need[]
  readonly look: (installation: Installation) => Promise<Found>
}

export const check = (name: string, needs: Check['needs'], look: Check['look']): Check => ({
  check: name,
  needs,
  look,
})

export const ok = (says: string): Found => ({ state: 'ok', says, fix: null })
export const warning = (says: string, fix: string): Found => ({ state: 'warning', says, fix })
export const problem = (says: string, fix: string): Found => ({ state: 'problem', says, fix })
export const skipped = (says: string): Found => ({ state: 'skipped', says, fix: null })

/** A service that does not answer must not keep the others from being looked at. */
const PATIENCE_MS = 15_000

/** Runs a check. Never rejects. */
export async function runCheck({ check, look }: Check, installation: Installation): Promise<Finding> {
  const seen = new AbortController()
  const tooLate = sleep(PATIENCE_MS, null, { signal: seen.signal }).then(() => {
    throw new Error(`no answer in ${PATIENCE_MS / 1_000} s; see whether the service or the disk hangs`)
  })
  const found = Promise.race([look(installation), tooLate]).catch(fromError)
  return { check, ...(await found.finally(() => seen.abort())) }
}

/** The messages of our errors are `what is wrong: what to do`, or one sentence of both; those of the system say what is wrong. */
function fromError(error: unknown): Found {
  const message = messageOf(remedied(error))
  const at = Math.max(message.lastIndexOf(': '), message.lastIndexOf('; '))
  const says = message.slice(0, Math.max(at, 0))
  return at === -1 || /\bE[A-Z]{3,}$/.test(says)
    ? problem(message, 'see docs/operating.md')
    : problem(says, message.slice(at + 2))
}
