// A signals service of real processes whose parts are killed at instants that a seed decides, round after round of one
// history: two that take fires, two that deliver, and the Redis of all. Leases and flights run out by themselves.
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type LoggedSignal, readAfter } from '#signals/log/read-log.ts'
import { readOutbox } from '#signals/outbox/outbox.ts'
import { RedisDownError } from '#signals/redis/connect.ts'
import { startProcess } from '../history/highwater-process.ts'
import type { ProcessOrder } from '../history/process-order.ts'
import { type Blow, ENTITLED, type PlannedFire, planOf, VICTIMS, type Victim } from '../kills/kill-plan.ts'
import { type Killable, type KillableProcess, killableRedis, startKillable } from '../kills/killable.ts'
import { playRound, type Strike } from '../kills/play-round.ts'
import { ownRedis } from '../servers/use-redis.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { addSubscriber, until } from './delivery.ts'
import { TOKEN } from './operator.ts'
import { startReceiver } from './receiver.ts'
import { entryOf, fireOnce } from './signals-process.ts'
import { violationsIn } from './signals-soundness.ts'

/** As in production, and shorter by so much that a round need not wait for long until others take over. */
const PACE: ProcessOrder['pace'] = { flightMs: 400, pollEveryMs: 50, leaseMs: 300 }

export type KillGround = {
  /**
   * Plays the round of a seed: when it ends, all that was owed has been delivered. Returns how many kills there were; pauses are
   * none. Throws what does not hold of the whole history by now.
   */
  play(seed: number): Promise<number>
  close(): Promise<void>
}

type Counters = { readonly fires: Counter; readonly deliveries: Counter }

/** Starts everything, with subscribers that may have different strategies. */
export async function openKillGround(): Promise<KillGround> {
  const server = await ownRedis()
  const redis = await server.connect()
  const counters: Counters = { fires: createCounter(), deliveries: createCounter() }
  const { receiver, answerAfter } = await startSlowReceiver(counters.deliveries)
  for (const [client, aliases] of Object.entries(ENTITLED)) {
    await addSubscriber(redis, client, receiver.urlOf(client), aliases)
  }
  const processes = await startProcesses(server.url)
  const all = [...processes.values()]
  const operators = VICTIMS.flatMap(name => (name.startsWith('operator') ? [processes.get(name)!] : []))
  const firer = createFirer(operators, counters.fires)
  const strikes = createStrikes(new Map([...processes, ['redis', killableRedis(server)]]), counters)
  const settled = createSettled(redis)

  const crashes = () => all.flatMap(each => each.crashes)

  async function play(seed: number): Promise<number> {
    const { fires, blows, answersMs } = planOf(seed, `s${seed}`)
    await strikes.areBack(blows)
    answerAfter(answersMs)
    for (const counter of Object.values(counters)) counter.restart()
    const firing = firer.fireAll(fires).finally(() => {
      for (const counter of Object.values(counters)) counter.release() // none is struck later than that
    })
    firing.catch(() => {}) // `finish` gets the error
    return playRound({
      strikes: [blows.map(strikes.strikeOf)],
      async finish() {
        await firing
        await strikes.areBack(blows.filter(({ victim }) => victim === 'redis'))
      },
      violations: async isFinished => [...(isFinished ? await unsound() : []), ...crashes()],
    })
  }

  async function unsound(): Promise<readonly string[]> {
    const { seq: settledSeq, open } = await settled()
    const received = [...receiver.received] // before the log: an abandoned fire may still be written
    const log = await readAfter(redis, 0, MOST_SIGNALS)
    return [...open, ...violationsIn({ fired: firer.fired, log, settledSeq, received, entitled: ENTITLED })]
  }

  async function close(): Promise<void> {
    await strikes.areBack(VICTIMS.map(victim => ({ victim })))
    await Promise.all(all.map(each => each.kill()))
    await server.stop()
  }
  return { play, close }
}

/** A receiver that takes so long for one request after another, again from the first. */
async function startSlowReceiver(counter: Counter) {
  let answersMs: readonly number[] = [0]
  const receiver = await startReceiver((_, response) => {
    const count = counter.add()
    setTimeout(() => response.end(), answersMs[count % answersMs.length])
  })
  const answerAfter = (ms: readonly number[]): void => {
    answersMs = ms
  }
  return { receiver, answerAfter }
}

async function startProcesses(redisUrl: string): Promise<ReadonlyMap<Victim, KillableProcess>> {
  const folder = await temporaryFolder()
  const started = new Map<Victim, KillableProcess>()
  const [first, ...others] = VICTIMS.filter(victim => victim !== 'redis')
  const start = async (victim: Victim): Promise<void> => {
    const kind = victim.split(' ')[0] as 'operator' | 'delivery' // Redis aside
    started.set(victim, await startSignalsPart(kind, redisUrl, folder))
  }
  await start(first!) // names the epoch of the log
  await Promise.all(others.map(start))
  return started
}

/** Longer than any run of them. */
const HUNG_MS = 24 * 3_600_000

/** A process that takes fires or delivers; what it keeps is in a folder. */
function startSignalsPart(kind: 'operator' | 'delivery', redisUrl: string, folder: string) {
  const order: ProcessOrder = { redisUrl, privateFolder: join(folder, 'private'), pace: PACE }
  const args = [join(import.meta.dirname, `${kind}-process.worker.ts`), JSON.stringify(order)]
  // Compiled programs are kept, because the same are started again and again.
  const env = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled') }
  const start = () => startProcess(process.execPath, args, { env, hungMs: HUNG_MS })
  return startKillable(start, /^ready ?(.*)\n/m)
}

/** Kills or pauses victims, one after another each; a killed one is restarted. */
function createStrikes(victims: ReadonlyMap<Victim, Killable>, counters: Counters) {
  const back = new Map<Victim, Promise<void>>()
  const areBack = async (blows: readonly Pick<Blow, 'victim'>[]): Promise<void> =>
    void (await Promise.all(blows.map(({ victim }) => back.get(victim))))

  /** Hits before the victim is back. */
  const strikeOf = ({ victim, at, downMs, isPause }: Blow): Strike => ({
    name: `${victim} ${isPause ? 'paused' : 'killed'}`,
    async hit() {
      await counters[at.of].reached(at.count)
      await delay(at.delayMs)
      const { kill, start, pause } = victims.get(victim)! // all are there
      const [down, up] = isPause ? [() => pause(true), () => pause(false)] : [kill, start]
      const struck = Promise.resolve(back.get(victim)).then(down)
      const again = struck.then(() => sleep(downMs)).then(up)
      back.set(victim, again)
      again.catch(() => {}) // the caller of `areBack` gets the error
      await struck
      return !isPause
    },
  })
  return { strikeOf, areBack }
}

/** Timers know milliseconds, and a request of a process is over in some: below two, turns of the event loop. */
async function delay(ms: number): Promise<void> {
  if (ms >= 2) return sleep(ms)
  for (let turns = Math.round(ms * 10); turns > 0; turns--) await new Promise(setImmediate)
}

/** A round that has not settled by then never will: what is missing is reported. */
const WEDGED_MS = 180_000

/** How far all of the log is delivered, and what in the ledger says otherwise. */
type Settled = { readonly seq: number; readonly open: readonly string[] }

/** Waits until all that is in the log has been delivered. */
function createSettled(redis: Redis): () => Promise<Settled> {
  let before = 0
  return async () => {
    const givesUp = AbortSignal.timeout(WEDGED_MS)
    let settled: Settled = { seq: before, open: [] }
    await until(async () => {
      try {
        const log = await readAfter(redis, before, MOST_SIGNALS)
        settled = { seq: log.at(-1)?.seq ?? before, open: await openIn(redis, log) }
        return settled.open.length === 0 || givesUp.aborted
      } catch (error) {
        if (error instanceof RedisDownError && !givesUp.aborted) return false // our own connection is not up again
        throw error
      }
    })
    before = settled.seq
    return settled
  }
}

/** More than a history has. */
const MOST_SIGNALS = 1_000_000

/** Deliveries of these signals that are not done, until the first signal that has some. */
async function openIn(redis: Redis, log: readonly LoggedSignal[]): Promise<readonly string[]> {
  for (const { seq, alias } of log) {
    const ledger = await readOutbox(redis, seq)
    const owed = Object.keys(ENTITLED).filter(client => ENTITLED[client]!.includes(alias))
    const open = owed.filter(client => ledger.get(client)?.status !== 'delivered')
    if (open.length > 0)
      return open.map(client => `${seq} to ${client}: ${JSON.stringify(ledger.get(client))}`)
  }
  return []
}

/** Operators that fire at the same time. */
const AT_ONCE = 3

const AGAIN_MS = 10

/** Processes are back within a second or two: after so many attempts they never will be. */
const MOST_ATTEMPTS = 3_000

function createFirer(operators: readonly KillableProcess[], counter: Counter) {
  const fired = new Map<string, { readonly alias: string; readonly seqs: number[] }>()
  let turn = 0

  async function fireSurely(fire: PlannedFire): Promise<void> {
    await sleep(fire.pauseMs)
    const { id, alias, isRepeated, isAbandoned } = fire
    const entry = entryOf(id, alias)
    const seqs: number[] = []
    fired.set(id, { alias, seqs })
    for (let tries = 1; seqs.length < (isRepeated ? 2 : 1); tries++) {
      if (tries > MOST_ATTEMPTS) throw new Error(`nobody acknowledges the fire ${id}`)
      const url = operators[turn++ % operators.length]!.said()
      if (url !== null) counter.add()
      const seq = url === null ? null : await fireOnce(url, TOKEN, entry)
      if (seq !== null) seqs.push(seq)
      else if (isAbandoned && url !== null) return
      else await sleep(AGAIN_MS)
    }
  }
  return {
    /** What is known of all fires until now. */
    fired,
    /** Resolves when each was acknowledged, or abandoned. */
    async fireAll(fires: readonly PlannedFire[]): Promise<void> {
      const left = [...fires]
      const fireOn = async (): Promise<void> => {
        for (let fire = left.shift(); fire !== undefined; fire = left.shift()) await fireSurely(fire)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, fireOn))
    },
  }
}

type Counter = ReturnType<typeof createCounter>

/** A counter that callers can wait for. */
function createCounter() {
  let [count, isOver] = [0, false]
  const changes = new EventEmitter()
  return {
    /** Gives how many there were with this one. */
    add(): number {
      count++
      changes.emit('change')
      return count
    },
    /** Resolves when the count is reached, or when counting is over. */
    async reached(asked: number): Promise<void> {
      while (!isOver && count < asked) await once(changes, 'change')
    },
    /** Resolves every waiting call. */
    release(): void {
      isOver = true
      changes.emit('change')
    },
    restart(): void {
      ;[count, isOver] = [0, false]
    },
  }
}
