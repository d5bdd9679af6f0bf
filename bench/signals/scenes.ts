import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { Pool } from 'undici'
import type { DeliveryEvent } from '#signals/delivery/deliver.ts'
import { commit } from '#signals/log/commit.ts'
import type { TestRedis } from '#test/support/servers/redis.ts'
import { addSubscriber, startTestDelivery } from '#test/support/signals/delivery.ts'
import { signalContent } from '#test/support/signals/signals.ts'
import { median } from '../harness/load.ts'
import { atLeast, atMost, type Figure, plain } from '../harness/report.ts'

// The scenes of the bench of deliveries: each gives its figures.

/** A round takes seconds: in shorter ones the beginning and the end weigh too much. */
export const RATE = { clients: 256, signals: 150, rounds: 3, warmUp: 1 }
export const FAN_OUT = { clients: 1_000, rounds: 5, answerMs: 20 }
const FIRES = 500
const HANGING = { healthy: 160, hanging: 40, signals: 24, everyMs: 250 }
const IDLE = { fires: 200, everyMs: 25 }

const LEAST_RATIO = 0.4
/** What a subscriber waits for. */
const MOST_MS = 1_000
const MOST_FIRE_MS = 50
const MOST_IDLE_MS = 20

export const SCENES: Readonly<Record<string, (bench: Bench) => Promise<Figure[]>>> = {
  rate: measureRate,
  'fan-out': measureFanOut,
  fire: measureFire,
  hanging: measureHanging,
  idle: measureIdle,
}

/** Rounds of deliveries and of bare requests in turns, so that whatever else the machine does falls on both. */
async function measureRate(bench: Bench): Promise<Figure[]> {
  const { clients, signals, rounds, warmUp } = RATE
  const watch = await startWatched(bench, clients, 'quick')
  const pool = new Pool(bench.origin, { connections: clients })
  const taken: { readonly ours: Cost; readonly bare: Cost }[] = []
  for (let round = 0; round < warmUp + rounds; round++) {
    const ours = await costOf(clients * signals, async () => {
      await fireMany(bench.redis, `r${round}`, signals)
      await watch.acknowledged(clients * signals)
    })
    const bare = await costOf(clients * signals, () => postBare(pool, clients, signals))
    if (round >= warmUp) taken.push({ ours, bare })
  }
  await pool.close()
  await watch.stop()
  const rate = median(taken.map(({ ours }) => ours.rate))
  const bareRate = median(taken.map(({ bare }) => bare.rate))
  const ratio = median(taken.map(({ ours, bare }) => ours.rate / bare.rate))
  const cpuRatio = median(taken.map(({ ours, bare }) => bare.cpuUs / ours.cpuUs))
  return [
    plain('deliveries', rate, 'a second'),
    plain('bare POSTs (undici Pool.request)', bareRate, 'a second'),
    atLeast('deliveries to bare POSTs', ratio, LEAST_RATIO),
    plain('the same by processor time of the thread', cpuRatio, 'times'),
  ]
}

async function measureFanOut(bench: Bench): Promise<Figure[]> {
  const { clients, rounds } = FAN_OUT
  const watch = await startWatched(bench, clients, 'slow')
  const took: number[] = []
  for (let round = 0; round <= rounds; round++) {
    await fireMany(bench.redis, `f${round}`, 1)
    const begin = performance.now()
    await watch.acknowledged(clients)
    if (round > 0) took.push(performance.now() - begin)
  }
  await watch.stop()
  return [
    atMost(
      `1 signal to ${clients} endpoints of ${FAN_OUT.answerMs} ms, all acknowledged`,
      median(took),
      MOST_MS,
      'ms',
    ),
  ]
}

async function measureFire({ redis }: Bench): Promise<Figure[]> {
  const took: number[] = []
  for (let i = 0; i < FIRES; i++) {
    const begin = performance.now()
    await fireMany(redis, `d${i}`, 1)
    took.push(performance.now() - begin)
  }
  return [atMost('fire to durable acknowledgement, p99', quantile(took, 0.99), MOST_FIRE_MS, 'ms')]
}

async function measureHanging(bench: Bench): Promise<Figure[]> {
  const { healthy, hanging, signals, everyMs } = HANGING
  await addSubscribers(bench.redis, bench.origin, 'hang', hanging)
  const watch = await startWatched(bench, healthy, 'quick')
  for (let i = 0; i < signals; i++) {
    await fireMany(bench.redis, `h${i}`, 1)
    await sleep(everyMs)
  }
  await watch.acknowledged(healthy * signals)
  const waits = watch.waits()
  await watch.stop()
  const name = `fire to acknowledgement while ${hanging} of ${healthy + hanging} hang, ${1_000 / everyMs} signals a second, healthy p99`
  return [atMost(name, quantile(waits, 0.99), MOST_MS, 'ms')]
}

async function measureIdle(bench: Bench): Promise<Figure[]> {
  const watch = await startWatched(bench, 1, 'quick')
  for (let i = 0; i < IDLE.fires; i++) {
    await sleep(IDLE.everyMs)
    await fireMany(bench.redis, `i${i}`, 1)
    await watch.acknowledged(1)
  }
  const begun = watch.begun()
  await watch.stop()
  return [
    plain('idle to first attempt, p50', median(begun), 'ms'),
    atMost('idle to first attempt, p99', quantile(begun, 0.99), MOST_IDLE_MS, 'ms'),
  ]
}

async function postBare(pool: Pool, clients: number, signals: number): Promise<void> {
  const body = Buffer.from(JSON.stringify({ schema_version: '1.0', seq: 1, ...signalContent('bare') }))
  const headers = { 'content-type': 'application/json', 'x-signature': 'sha256='.padEnd(71, '0') }
  const post = async (path: string): Promise<void> => {
    for (let i = 0; i < signals; i++) {
      const answer = await pool.request({ method: 'POST', path, headers, body })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, i) => post(`/quick/${i}`)))
}

type Cost = { readonly rate: number; readonly cpuUs: number }

async function costOf(count: number, run: () => Promise<unknown>): Promise<Cost> {
  const [begin, before] = [performance.now(), process.threadCpuUsage()]
  await run()
  const { user, system } = process.threadCpuUsage(before)
  return { rate: count / ((performance.now() - begin) / 1000), cpuUs: (user + system) / count }
}

// What every scene of the bench of deliveries needs: subscribers, a delivery that is watched, and figures of a table.

/** What a delivery of the bench looks like to the receiver; the path says how it answers. */
type Kind = 'quick' | 'slow' | 'hang'

/** Subscribers that are added together. */
const AT_ONCE = 250

export type Bench = {
  readonly server: TestRedis
  readonly redis: Redis
  readonly origin: string
}

async function addSubscribers(redis: Redis, origin: string, kind: Kind, count: number): Promise<void> {
  const all = Array.from({ length: count }, (_, i) => i)
  for (let at = 0; at < count; at += AT_ONCE)
    await Promise.all(
      all.slice(at, at + AT_ONCE).map(i => addSubscriber(redis, `${kind}-${i}`, `${origin}/${kind}/${i}`)),
    )
}

/** A delivery to so many endpoints; `acknowledged(count)` resolves after the next `count` acknowledgements. */
async function startWatched({ server, redis, origin }: Bench, clients: number, kind: Kind) {
  const attempts: Extract<DeliveryEvent, { kind: 'attempt' }>[] = []
  let wanted = 0
  let reached = (): void => {}
  await addSubscribers(redis, origin, kind, clients)
  const delivery = await startTestDelivery(server.url, {
    onEvent: event => {
      if (event.kind !== 'attempt' || !event.attempt.ok) return
      attempts.push(event)
      if (attempts.length >= wanted) reached()
    },
  })
  return {
    ...delivery,
    acknowledged(count: number): Promise<void> {
      wanted += count
      return new Promise(resolve => {
        reached = resolve
        if (attempts.length >= wanted) resolve()
      })
    },
    waits: () => attempts.map(({ attempt, firedAtMs }) => attempt.at + attempt.total_ms - firedAtMs),
    begun: () => attempts.map(({ attempt, firedAtMs }) => attempt.at - firedAtMs),
  }
}

const fireMany = (redis: Redis, name: string, count: number): Promise<unknown> =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      commit(redis, [{ content: signalContent(`${name}-${i}`), onlyFor: null }], Date.now()),
    ),
  )

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))]!
