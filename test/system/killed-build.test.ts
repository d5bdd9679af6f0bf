// A build that is killed anywhere leaves the version before served, or the new one whole.
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { openStore } from '#storage/open-store.ts'
import { run } from '../cli/made-up.ts'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { whileReading } from '../support/history/reading-tier.ts'
import { fileGround, newKeyFile, s3Ground } from '../support/kills/grounds.ts'
import { buildRound, killsOf, type Model, modelOf, playOnModel } from '../support/kills/kill-rounds.ts'
import { s3Env } from '../support/stores/s3-stores.ts'
import { buildArgs, pointerOf } from '../support/stores/stores.ts'

/** What one machine builds into a folder; into a bucket it is the same. */
let model: Model
let keyFile: string

beforeAll(async () => {
  keyFile = await newKeyFile()
  model = await modelOf(await fileGround(keyFile))
})

/** With the seeds of their rounds, and which kill of each is played: in the middle and around the pointer; `make soak` plays all. */
test.each([
  ['a folder', fileGround, 7, 0],
  ['a bucket', s3Ground, 15, 2],
] as const)(
  'a build into %s, killed at any operation, leaves a whole version, is finished by the same command, and no answer is torn',
  async (_, makeGround, seed, nth) => {
    const ground = await makeGround(keyFile)
    const stores = await ground.open()
    const store = await openStore(stores.url, stores.s3)
    const count = async () => (await store.list('v1/')).length
    const before = await count()
    const round = buildRound(ground, stores, [killsOf(seed, model)[nth]!], model)
    const env = { SIGNING_KEY_FILE: keyFile, ...(stores.s3 === undefined ? {} : s3Env(stores.s3)) }
    const finish = async () =>
      expect(await run(buildArgs(stores, ground), { env, now: Date.now })).toMatchObject({ code: 0 })
    let [killed, begun] = [0, 0]
    const violations = async (isFinished: boolean) => {
      if ((await pointerOf(stores)) === TINY_VERSION && (await count()) > before) begun++
      return round.violations(isFinished)
    }
    const play = async (): Promise<void> => {
      killed = await playOnModel({ ...round, finish, violations }, model)
    }
    expect(await whileReading(stores, model.content, play)).toBeGreaterThan(0)
    expect(await unfinishedIn(stores)).toEqual([])
    // Had every kill come before the build did anything, or after it was done, nothing would have been shown.
    expect(killed).toBe(round.strikes.length)
    expect(begun).toBeGreaterThan(0)
  },
)

/** What a write to a disk that was killed left half-done; the next build takes it away. */
async function unfinishedIn({ url }: Stores): Promise<string[]> {
  return url.startsWith('file:') ? readdir(fileURLToPath(`${url}/.unfinished`)) : []
}
