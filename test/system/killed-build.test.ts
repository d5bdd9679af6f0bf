// A build that is killed at any instant leaves the version before served, or the new one whole.
import { readdir } from 'node:fs/promises'
import { setTimeout as after } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { createRandom } from '#pipeline/sample/random.ts'
import { highwater, startHighwater } from '../setup/highwater-process.ts'
import { type Stores, TINY_VERSION } from '../setup/publish-book.ts'
import {
  buildArgs,
  contentOf,
  copyStores,
  faultsOf,
  NEXT_VERSION,
  pointerOf,
  versionContentOf,
} from '../setup/stores.ts'

const SEED = 20_261_121
const KILLS = 20

/** Kills that go on beside each other: a build leaves a core idle while it starts and while it reads. */
const LANES = 2

/** Thirty builds take longer than a test may by default. */
const WEDGED_MS = 300_000

test(
  `a build killed at ${KILLS} instants (seed ${SEED}) leaves a whole version each time, and is finished by the same command`,
  async () => {
    const whole = await copyStores(inject('tinyStore'))
    const startedMs = performance.now()
    expect(await highwater(buildArgs(whole, { threads: 2 }))).toMatchObject({ code: 0 })
    const tookMs = performance.now() - startedMs
    const finished = await versionContentOf(whole)

    const rounds = toRounds(tookMs)
    const lanes = Array.from({ length: LANES }, (_, lane) => rounds.filter((_, i) => i % LANES === lane))
    const seen = await Promise.all(lanes.map(lane => killAndFinish(lane, finished)))

    // Had every kill come before the build did anything, or after it was done, nothing would have been shown.
    expect(Math.max(...seen.flat())).toBeGreaterThan(0)
  },
  WEDGED_MS,
)

/** An early and a late instant for each store, so that half of the builds that are killed are themselves resumed. */
function toRounds(tookMs: number): readonly (readonly number[])[] {
  const { uniform } = createRandom(SEED)
  const instants = Array.from({ length: KILLS }, (_, i) => ((i + uniform()) / KILLS) * tookMs)
  return instants.slice(0, KILLS / 2).map((early, i) => [instants[KILLS - 1 - i]!, early])
}

/** Returns how many objects of the new version each killed build left behind. */
async function killAndFinish(rounds: readonly (readonly number[])[], finished: Content): Promise<number[]> {
  const left: number[] = []
  for (const instants of rounds) {
    const stores = await copyStores(inject('tinyStore'))
    const before = Object.keys(await contentOf(stores)).length
    for (const afterMs of instants) {
      await killBuild(stores, afterMs)
      expect(await faultsOf(stores), killedAt(afterMs)).toEqual([])
      expect([TINY_VERSION, NEXT_VERSION], killedAt(afterMs)).toContain(await pointerOf(stores))
      if ((await pointerOf(stores)) === TINY_VERSION) {
        left.push(Object.keys(await contentOf(stores)).length - before)
      }
    }
    const exit = await highwater(buildArgs(stores))
    expect(exit.code, `${killedAt(...instants)}: ${exit.stderr}`).toBe(0)
    expect(await faultsOf(stores), killedAt(...instants)).toEqual([])
    expect(await versionContentOf(stores), killedAt(...instants)).toEqual(finished)
    expect(await unfinishedIn(stores), killedAt(...instants)).toEqual([])
  }
  return left
}

async function killBuild(stores: Stores, afterMs: number): Promise<void> {
  const build = startHighwater(buildArgs(stores, { threads: 2 }))
  await Promise.race([after(afterMs), build.ended])
  build.kill('SIGKILL')
  await build.ended
}

const killedAt = (...instants: readonly number[]): string =>
  `killed after ${instants.map(ms => `${Math.round(ms)} ms`).join(' and ')}`

/** What a write that was killed left half-done; the next build takes it away. */
const unfinishedIn = ({ url }: Stores): Promise<string[]> => readdir(fileURLToPath(`${url}/.unfinished`))

type Content = Readonly<Record<string, string>>
