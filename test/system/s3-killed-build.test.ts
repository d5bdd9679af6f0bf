// A build into a bucket that is killed at any instant leaves the version before served, or the new one whole.
import { expect, test } from 'vitest'
import { createRandom } from '#pipeline/sample/random.ts'
import { openStore } from '#storage/open-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { type Running, startHighwater } from '../setup/highwater-process.ts'
import { type Stores, TINY_VERSION } from '../setup/publish-book.ts'
import { type S3Proxy, startS3Proxy } from '../setup/s3-proxy.ts'
import { s3Env, tinyS3Stores } from '../setup/s3-stores.ts'
import { buildArgs, faultsOf, NEXT_VERSION, pointerOf, versionContentOf } from '../setup/stores.ts'

const SEED = 20_261_121
const KILLS = 10

/** Fifteen builds into a service that shares their cores. */
const WEDGED_MS = 600_000

test(
  `a build killed at ${KILLS} of its requests (seed ${SEED}) leaves a whole version each time, and is finished by the same command`,
  async () => {
    const proxy = await startS3Proxy()
    const whole = await openThrough(proxy)
    const before = Object.keys(await versionContentOf(whole)).length
    proxy.meddle(() => null)
    expect(await startBuild(whole).ended).toMatchObject({ code: 0 })
    const requests = proxy.asked().length
    const finished = await versionContentOf(whole)

    const left: number[] = []
    for (const kills of toRounds(requests)) {
      const stores = await openThrough(proxy)
      for (const kill of kills) {
        await killBuild(stores, proxy, kill)
        await assertSound(stores, describeKill(kill, requests))
        if ((await pointerOf(stores)) === TINY_VERSION) {
          left.push(Object.keys(await versionContentOf(stores)).length - before)
        }
      }
      const exit = await startBuild(stores).ended
      expect(
        exit.code,
        `${kills.map(kill => describeKill(kill, requests)).join(', then ')}: ${exit.stderr}`,
      ).toBe(0)
      await assertSound(stores, 'finished')
      expect(await pointerOf(stores)).toBe(NEXT_VERSION)
      expect(await versionContentOf(stores)).toEqual(finished)
    }
    // Had every kill come before the build wrote anything, or after it was done, nothing would have been shown.
    expect(left.filter(count => count > 0).length).toBeGreaterThan(KILLS / 4)
  },
  WEDGED_MS,
)

/** A build is killed when it makes this request, which the service then does or never sees. */
type Kill = { readonly request: number; readonly isDone: boolean }

/** A late and an early kill for each pair of stores, so that half of the builds that are killed are themselves resumed. */
function toRounds(requests: number): readonly (readonly Kill[])[] {
  const { uniform } = createRandom(SEED)
  const kills = Array.from({ length: KILLS }, (_, i) => ({
    request: Math.floor(((i + uniform()) / KILLS) * requests),
    isDone: uniform() < 0.5,
  }))
  return kills.slice(0, KILLS / 2).map((early, i) => [kills[KILLS - 1 - i]!, early])
}

const describeKill = ({ request, isDone }: Kill, requests: number): string =>
  `killed at request ${request} of ${requests}, which was ${isDone ? 'done' : 'lost'}`

/** Stores with the first version in them, which a process reaches through the proxy. */
const openThrough = async (proxy: S3Proxy): Promise<Required<Stores>> => ({
  ...(await tinyS3Stores()),
  s3: proxy.access,
})

const startBuild = (stores: Required<Stores>): Running =>
  startHighwater(buildArgs(stores, { threads: 2 }), { env: s3Env(stores.s3) })

async function killBuild(stores: Required<Stores>, proxy: S3Proxy, { request, isDone }: Kill): Promise<void> {
  let count = 0
  let building: Running | null = null
  proxy.meddle(() => {
    if (count++ < request) return null
    building?.kill('SIGKILL')
    return isDone && count === request + 1 ? null : 'silence'
  })
  building = startBuild(stores)
  expect(await building.ended).toMatchObject({ signal: 'SIGKILL' })
  proxy.meddle(() => null)
}

/** Every version with a manifest is whole, and the log without a gap names one of the two. */
async function assertSound(stores: Required<Stores>, when: string): Promise<void> {
  expect(await faultsOf(stores), when).toEqual([])
  expect([TINY_VERSION, NEXT_VERSION], when).toContain(await pointerOf(stores))
  const log = await readLog(await openStore(stores.url, stores.s3))
  expect(log.at(-1)?.entry.version, when).toBe(await pointerOf(stores))
}
