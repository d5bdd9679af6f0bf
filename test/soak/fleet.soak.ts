// Fleets whose workers, coordinator and Redis are killed at instants that a seed decides: each round ends with the bytes of
// one machine.
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom, type Random } from '#pipeline/sample/random.ts'
import { writeFleetBook } from '../support/books/fleet-book.ts'
import type { Stores } from '../support/books/publish-book.ts'
import { highwater, startHighwater } from '../support/history/highwater-process.ts'
import type { Running } from '../support/processes.ts'
import type { TestRedis } from '../support/servers/redis.ts'
import { ownRedis } from '../support/servers/use-redis.ts'
import { buildArgs, faultsOf, newStores, versionContentOf, withStart } from '../support/stores/stores.ts'
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
  return seed => playRound(book, whole, createRandom(seed))
})

/** What a build says if a strategy was under way on too many killed workers; the same command then continues. */
const CLEAR_END = /no worker could|the Redis of the fleet, \S+ does not answer/

/** What a coordinator says that was killed after it had published. */
const PUBLISHED = /the run soak is over, it published 20/

/** Returns how many processes were killed. */
async function playRound(book: string, whole: string, random: Random): Promise<number> {
  const stores = await withStart(newStores())
  const redis = await ownRedis()
  const { url, privateUrl } = stores
  const keep = (args: readonly string[]) => keepRunning(() => startHighwater(args))
  const workers = Array.from({ length: WORKERS }, () =>
    keep([
      ...['worker', '--store', url, '--private-store', privateUrl],
      ...['--threads', '1', '--fleet', redis.url],
    ]),
  )
  const coordinator = keep([
    ...buildArgs(stores, { book }),
    ...['--fleet', redis.url, '--run', 'soak', '--fleet-wait', '40'],
  ])
  let killed = 0
  try {
    for (; killed < KILLS_A_ROUND && !coordinator.isDone(); killed++) {
      await pause(random.uniform() * LONGEST_PAUSE_MS)
      await strike(random, [...workers, coordinator], redis)
    }
    await coordinator.done
    await assertWhole(stores, whole)
    return killed
  } finally {
    await Promise.all([...workers, coordinator].map(({ stop }) => stop()))
    await redis.stop()
  }
}

async function strike({ uniform }: Random, victims: readonly Kept[], redis: TestRedis): Promise<void> {
  const victim = victims[Math.floor(uniform() * (victims.length + 1))]
  if (victim !== undefined) return victim.kill()
  if (uniform() < 0.5) await (await redis.connect()).flushall()
  else {
    await redis.kill()
    await redis.restart()
  }
}

type Kept = ReturnType<typeof keepRunning>

/** A process that is started again whenever it was killed, or ended and said that it can be continued, until it is done. */
function keepRunning(start: () => Running) {
  let running = start()
  let [isStopped, isDone] = [false, false]
  const keep = async (): Promise<void> => {
    for (;;) {
      const { code, signal, stderr } = await running.ended
      isDone = code === 0 || PUBLISHED.test(stderr)
      if (isDone || isStopped) return
      if (signal !== 'SIGKILL' && !CLEAR_END.test(stderr)) throw new Error(`it ended with ${code}: ${stderr}`)
      running = start()
    }
  }
  const done = keep()
  done.catch(() => {}) // awaited later
  return {
    done,
    isDone: () => isDone,
    kill: async () => running.kill('SIGKILL'),
    async stop(): Promise<void> {
      isStopped = true
      running.kill('SIGKILL')
      await done
    },
  }
}

async function assertWhole(stores: Stores, whole: string): Promise<void> {
  const faults = await faultsOf(stores)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  if (JSON.stringify(await versionContentOf(stores)) !== whole)
    throw new Error(`${stores.url} has other bytes than one machine writes`)
}
