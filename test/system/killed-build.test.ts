// A build that is killed anywhere leaves the version before served, or the new one whole.
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Stores } from '../support/books/publish-book.ts'
import { whileReading } from '../support/history/reading-tier.ts'
import { fileGround, newKeyFile, s3Ground } from '../support/kills/grounds.ts'
import { modelOf, type Outcome, playRound, roundOf } from '../support/kills/kill-rounds.ts'

/** With the seeds of their rounds; `make soak` plays others. */
test.each([
  ['a folder', fileGround, [7]],
  ['a bucket', s3Ground, [6]],
] as const)(
  'a build into %s, killed at any operation, leaves a whole version, is finished by the same command, and no answer is torn',
  async (_, makeGround, seeds) => {
    const ground = await makeGround(await newKeyFile())
    const model = await modelOf(ground)
    const outcomes: Outcome[] = []
    for (const seed of seeds) {
      const stores = await ground.open()
      const play = async () =>
        void outcomes.push(await playRound(ground, stores, roundOf(seed, model), model))
      if (seed !== seeds[0]) await play()
      else expect(await whileReading(stores, model.content, play)).toBeGreaterThan(0)
      expect(await unfinishedIn(stores)).toEqual([])
    }
    // Had every kill come before the build did anything, or after it was done, nothing would have been shown.
    const kills = 3 * seeds.length
    const left = outcomes.flatMap(outcome => outcome.left).filter(count => count > 0)
    expect(outcomes.reduce((sum, { killed }) => sum + killed, 0)).toBeGreaterThan((kills * 3) / 4)
    expect(left.length).toBeGreaterThan(kills / 3)
  },
)

/** What a write to a disk that was killed left half-done; the next build takes it away. */
async function unfinishedIn({ url }: Stores): Promise<string[]> {
  return url.startsWith('file:') ? readdir(fileURLToPath(`${url}/.unfinished`)) : []
}
