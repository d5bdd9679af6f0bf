// What the files of `make soak` have in common: KILLS, MINUTES and SEED, rounds one after another, and their progress.
import { test } from 'vitest'

const KILLS = numberFrom('KILLS', 300)
export const MINUTES = numberFrom('MINUTES', 60)
export const SEED = numberFrom('SEED', 20_261_121)

/** Plays the round of a seed and returns how many processes were killed. Throws what is violated. */
export type PlayRound = (seed: number) => Promise<number>

/**
 * A test that plays rounds until there were KILLS kills or MINUTES have passed. The first violation ends it with what replays
 * it: the seed of the round or, of rounds that go on with what others have left, of the first of `together`.
 */
export function soak(part: string, open: () => Promise<PlayRound>, together = 1): void {
  test(`${KILLS} kills of ${part} (from seed ${SEED}) within ${MINUTES} minutes end without a violation`, async () => {
    const progress = startProgress(part)
    const play = await open()
    let [killed, rounds] = [0, 0]
    while (killed < KILLS && !progress.isOver()) {
      killed += await play(SEED + rounds).catch((cause: Error) => {
        const first = SEED + rounds - (rounds % together)
        const replay = `make soak PART=${part} SEED=${first} KILLS=${together > 1 ? KILLS : 1}`
        throw new Error(`seed ${SEED + rounds}: ${cause.message}\nreplay it with: ${replay}`, { cause })
      })
      rounds++
      progress.print(`${killed} of ${KILLS} kills, ${rounds} rounds`)
    }
  })
}

/** How far a file is, in one line on a terminal. */
export function startProgress(part: string) {
  const began = performance.now()
  return {
    isOver: () => performance.now() - began > MINUTES * 60_000,
    print(text: string): void {
      const seconds = Math.round((performance.now() - began) / 1_000)
      const line = `${part}: ${text}, ${seconds} s (from seed ${SEED})`
      process.stderr.write(line + (process.stderr.isTTY ? '\r' : '\n'))
    },
  }
}

/** A number of the environment, above 0. */
function numberFrom(name: string, fallback: number): number {
  const value = Number(process.env[name] || fallback)
  if (value > 0) return value
  throw new Error(`${name}: expected a number above 0, got '${process.env[name]}'`)
}
