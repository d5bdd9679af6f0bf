// Fires over HTTP as an operator should: where no answer comes, the same signal again, to whichever process is there.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { PlannedFire } from '../kills/kill-plan.ts'
import type { KillableProcess } from '../kills/killable.ts'
import type { Tally } from '../tally.ts'
import { TOKEN } from './operator.ts'
import type { Fired } from './signals-soundness.ts'

/** Operators that fire at the same time. */
const AT_ONCE = 3

const AGAIN_MS = 10

/** Processes are back within a second or two: after so many attempts they never will be. */
const MOST_ATTEMPTS = 3_000

const answer = z.object({ data: z.object({ seq: z.int().min(1), signal_id: z.string() }) })

export type Firer = {
  /** What is known of all fires until now. */
  readonly fired: ReadonlyMap<string, Fired>
  /** Resolves when each was acknowledged, or abandoned. */
  fireAll(fires: readonly PlannedFire[]): Promise<void>
}

export function createFirer(operators: readonly KillableProcess[], tally: Tally): Firer {
  const fired = new Map<string, { readonly alias: string; readonly seqs: number[] }>()
  let turn = 0

  async function fireSurely(fire: PlannedFire): Promise<void> {
    await sleep(fire.pauseMs)
    const { id, alias, isRepeated, isAbandoned } = fire
    const seqs: number[] = []
    fired.set(id, { alias, seqs })
    for (let tries = 1; seqs.length < (isRepeated ? 2 : 1); tries++) {
      if (tries > MOST_ATTEMPTS) throw new Error(`nobody acknowledges the fire ${id}`)
      const url = operators[turn++ % operators.length]!.said()
      if (url !== null) tally.add()
      const seq = url === null ? null : await fireOnce(url, fire)
      if (seq !== null) seqs.push(seq)
      else if (isAbandoned && url !== null) return
      else await sleep(AGAIN_MS)
    }
  }
  return {
    fired,
    async fireAll(fires) {
      const left = [...fires]
      const fireOn = async (): Promise<void> => {
        for (let fire = left.shift(); fire !== undefined; fire = left.shift()) await fireSurely(fire)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, fireOn))
    },
  }
}

/** The number that was acknowledged, null where the outcome is unknown. Throws on every other answer. */
async function fireOnce(url: string, { id, alias }: PlannedFire): Promise<number | null> {
  const found = await post(url, id, alias).catch(() => null) // the process died, or was dead
  if (found === null || found.status === 503) return null
  if (found.status !== 200 && found.status !== 201)
    throw new Error(`the fire ${id} was answered ${found.status}: ${found.text}`)
  const { data } = answer.parse(JSON.parse(found.text))
  if (data.signal_id !== id) throw new Error(`the fire ${id} was answered with ${data.signal_id}`)
  return data.seq
}

async function post(url: string, id: string, alias: string) {
  const body = JSON.stringify({
    ...{ signal_id: id, alias, action: 'long', signal_price: 50_000, stop: 49_000 },
    ...{ base_risk_pct: 0.02, timestamp: '2026-01-01T00:00:00Z' },
  })
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/ops/signals`, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}
