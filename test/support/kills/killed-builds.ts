// Builds that are killed, in a row, on one kind of store: what the suite proves of a folder and of a bucket.
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { Stores } from '../books/publish-book.ts'
import { whileReading } from '../history/reading-tier.ts'
import { type Ground, type MakeGround, newKeyFile } from './grounds.ts'
import { type Model, modelOf, type Outcome, playRound, type Round, toRounds } from './kill-rounds.ts'

export const SEED = 20_261_121

/** On each kind of store; `make soak` kills hundreds. */
export const KILLS = 12

/** So many builds take longer than a test may by default. */
export const WEDGED_MS = 1_800_000

/**
 * Kills builds at random operations: each leaves a whole version, the same command finishes it, and no answer of a tier
 * that reads meanwhile is torn.
 */
export async function proveKilledBuilds(makeGround: MakeGround): Promise<void> {
  const ground = await makeGround(await newKeyFile())
  const model = await modelOf(ground)
  const outcomes = await playRounds(ground, toRounds(KILLS, SEED, model), model)

  // Had every kill come before the build did anything, or after it was done, nothing would have been shown.
  const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((all, each) => all + count(each), 0)
  expect(sum(({ killed }) => killed)).toBeGreaterThan((KILLS * 3) / 4)
  expect(sum(({ left }) => left.filter(count => count > 0).length)).toBeGreaterThan(KILLS / 3)
}

/** A tier reads during the first round. */
async function playRounds(ground: Ground, rounds: readonly Round[], model: Model): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const [i, round] of rounds.entries()) {
    const stores = await ground.open()
    const play = async () => void outcomes.push(await playRound(ground, stores, round, model))
    if (i > 0) await play()
    else expect(await whileReading(stores, model.content, play)).toBeGreaterThan(0)
    expect(await unfinishedIn(stores)).toEqual([])
  }
  return outcomes
}

/** What a write to a disk that was killed left half-done; the next build takes it away. */
async function unfinishedIn({ url }: Stores): Promise<string[]> {
  return url.startsWith('file:') ? readdir(fileURLToPath(`${url}/.unfinished`)) : []
}
