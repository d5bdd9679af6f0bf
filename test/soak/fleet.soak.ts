// Fleets whose workers, coordinator and Redis are killed at instants that a seed decides: each round ends with the bytes of
// one machine.
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom, type Random } from '#pipeline/sample/random.ts'
import { writeFleetBook } from '../support/books/fleet-book.ts'
import type { Stores } from '../support/books/publish-book.ts'
import { highwater, startHighwater } from '../support/history/highwater-process.ts'
import { type Ends, killableRedis, startKillable } from '../support/kills/killable.ts'
import { playRound, type Round, type Strike } from '../support/kills/play-round.ts'
import { ownRedis } from '../support/servers/use-redis.ts'
import {
  buildArgs,
  faultsOf,
  newStores,
  storeArgs,
  versionContentOf,
  withStart,
} from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'
import { soak } from './soak.ts'

const STRATEGIES = 24
const WORKERS = 3
const KILLS_A_ROUND = 6
/** A round is under way for some seconds more than its processes need to start. */
const LONGEST_PAUSE_MS = 2_500

soak('fleet', async () => {
  const book = await writeFleetBook(join(await lastingFolder(), 'book'), STRATEGIES)
  const alone = await withStart(newStores())
  const { code, stderr } = await highwater(buildArgs(alone, { book }))
  if (code !== 0) throw new Error(`one machine ended with ${code}: ${stderr}`)
  const whole = JSON.stringify(await versionContentOf(alone))
  return async seed => playRound(await fleetRound(book, whole, createRandom(seed)))
})

/** What a build says if a strategy was under way on too many killed workers; the same command then continues. */
const CLEAR_END = /no worker could|the Redis of the fleet, \S+ does not answer/

/** What a coordinator says that was killed after it had published. */
const PUBLISHED = /the run soak is over, it published 20/

const ENDS: Ends = {
  isDone: ({ code, stderr }) => code === 0 || PUBLISHED.test(stderr),
  goesOn: ({ stderr }) => CLEAR_END.test(stderr),
}

async function fleetRound(book: string, whole: string, { uniform }: Random): Promise<Round> {
  const stores = await withStart(newStores())
  const redis = await ownRedis()
  const start = (...args: readonly string[]) => startKillable(() => startHighwater(args), /^/, ENDS)
  const worker = ['worker', ...storeArgs(stores), '--threads', '1', '--fleet', redis.url]
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => start(...worker)))
  const build = [...buildArgs(stores, { book }), '--fleet', redis.url]
  const coordinator = await start(...build, '--run', 'soak', '--fleet-wait', '40')
  const processes = [...workers, coordinator]
  const server = killableRedis(redis)
  const victims = [...processes, server]
  const strikeOf = (i: number): Strike => ({
    name: `kill ${i + 1}`,
    async hit() {
      if (!coordinator.isDone()) await pause(uniform() * LONGEST_PAUSE_MS)
      if (coordinator.isDone()) return false
      const victim = victims[Math.floor(uniform() * victims.length)]!
      if (victim === server && uniform() < 0.5) {
        await (await redis.connect()).flushall()
      } else {
        await victim.kill()
        await victim.start()
      }
      return true
    },
  })
  return {
    strikes: Array.from({ length: KILLS_A_ROUND }, (_, i) => [strikeOf(i)]),
    async finish() {
      await coordinator.done
      await Promise.all(workers.map(({ stop }) => stop()))
      await redis.stop()
    },
    violations: async isFinished => [
      ...processes.flatMap(({ crashes }) => crashes),
      ...(isFinished ? await unlike(whole, stores) : []),
    ],
  }
}

async function unlike(whole: string, stores: Stores): Promise<readonly string[]> {
  const isSame = JSON.stringify(await versionContentOf(stores)) === whole
  const faults = await faultsOf(stores)
  return isSame ? faults : [...faults, `${stores.url} has other bytes than one machine writes`]
}
