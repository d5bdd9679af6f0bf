// What a seed decides of a round: what is fired, what is killed, and at which instants.
import { createRandom } from '#pipeline/sample/random.ts'

/** Strategies that are fired. */
export const ALIASES: readonly string[] = ['alder', 'birch', 'cedar']

/** Entitlements of the clients: no two the same, overlapping, and one empty. */
export const ENTITLED: Readonly<Record<string, readonly string[]>> = {
  north: ['alder'],
  east: ['alder', 'birch', 'cedar'],
  south: ['birch', 'cedar'],
  west: ['cedar'],
  none: [],
}

/** Of the service two processes each, as behind a balancer; and the Redis of all. */
export const VICTIMS = ['operator 1', 'operator 2', 'delivery 1', 'delivery 2', 'redis'] as const
export type Victim = (typeof VICTIMS)[number]

export type PlannedFire = {
  readonly id: string
  readonly alias: string
  readonly pauseMs: number
  /** Fired again although it was acknowledged. */
  readonly isRepeated: boolean
  /** If the answer is lost, the fire is not repeated: it may be in the log or not. */
  readonly isAbandoned: boolean
}

/** So long after so many requests were begun, of those that fire or of those that deliver. */
export type Instant = {
  readonly of: 'fires' | 'deliveries'
  readonly count: number
  readonly delayMs: number
}

export type Blow = {
  readonly victim: Victim
  readonly at: Instant
  /** How long it stays away; a pause stands still for so long and goes on, as a process that was not scheduled. */
  readonly downMs: number
  readonly isPause: boolean
}

const FIRES = 10

/** Longer than the lease of a relay and the flight of a worker in these tests: others take over meanwhile. */
const PAUSE_MS = 600

/**
 * The same plan for the same seed; `name` goes before the ids, so that a history of many rounds has each of them once. The
 * receivers take `answersMs` to answer, one after another, again from the first.
 */
export function planOf(seed: number, name: string) {
  const { uniform } = createRandom(seed)
  const below = (most: number): number => Math.floor(uniform() * most)
  const fires = Array.from({ length: FIRES }, (_, i) => ({
    id: `${name}-${i}`,
    alias: ALIASES[below(ALIASES.length)]!,
    pauseMs: below(12),
    isRepeated: uniform() < 0.2,
    isAbandoned: uniform() < 0.2,
  }))
  const blow = (victim: Victim, isPause = false): Blow => ({
    victim,
    at: toInstant(below(2), below(FIRES), uniform()),
    downMs: isPause ? PAUSE_MS : below(60),
    isPause,
  })
  const one = `${['operator', 'delivery'][seed % 2]!} ${1 + below(2)}` as Victim // one of the list
  const blows = [blow(one)]
  if (uniform() < 0.7) blows.push(blow('redis'))
  if (uniform() < 0.3) blows.push(blow(VICTIMS[below(VICTIMS.length)]!))
  if (uniform() < 0.4) blows.push(blow(VICTIMS[2 + below(2)]!, true))
  return { fires, blows, answersMs: Array.from({ length: 7 }, () => below(15)) }
}

/** Half of the delays are within the few milliseconds that a request takes: in its middle. */
const toInstant = (kind: number, count: number, chance: number): Instant => ({
  of: kind === 0 ? 'fires' : 'deliveries',
  count: 1 + count,
  delayMs: chance < 0.5 ? chance * 16 : chance * 50,
})
