// A build that is killed anywhere leaves the version before served, or the new one whole: on a disk and in a bucket.
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { fileGround, type Ground, type MakeGround, newKeyFile, s3Ground } from '../setup/grounds.ts'
import { type Model, modelOf, type Outcome, playRound, type Round, toRounds } from '../setup/kill-rounds.ts'
import type { Stores } from '../setup/publish-book.ts'
import { whileReading } from '../setup/reading-tier.ts'

const SEED = 20_261_121
const KILLS = 24

/** Rounds that go on beside each other: a build leaves a core idle while it starts and while it reads. */
const LANES = 2

/** Thirty builds take longer than a test may by default. */
const WEDGED_MS = 600_000

test.each<[string, MakeGround]>([
  ['a folder', fileGround],
  ['a bucket', s3Ground],
])(
  `a build into %s, killed at ${KILLS} of its operations (seed ${SEED}), leaves a whole version each time, is finished by the same command, and no answer is torn meanwhile`,
  async (_where, makeGround) => {
    const keyFile = await newKeyFile()
    const grounds = await Promise.all(Array.from({ length: LANES }, () => makeGround(keyFile)))
    const model = await modelOf(grounds[0]!)
    const rounds = toRounds(KILLS, SEED, model)
    const outcomes = (
      await Promise.all(
        grounds.map((ground, lane) =>
          playLane(
            ground,
            rounds.filter((_, i) => i % LANES === lane),
            model,
          ),
        ),
      )
    ).flat()

    // Had every kill come before the build did anything, or after it was done, nothing would have been shown.
    const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((all, each) => all + count(each), 0)
    expect(sum(({ killed }) => killed)).toBeGreaterThan((KILLS * 3) / 4)
    expect(sum(({ left }) => left.filter(count => count > 0).length)).toBeGreaterThan(KILLS / 3)
  },
  WEDGED_MS,
)

/** A tier reads during the first round. */
async function playLane(ground: Ground, rounds: readonly Round[], model: Model): Promise<Outcome[]> {
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
