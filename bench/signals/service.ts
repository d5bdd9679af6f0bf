// What subscribers of a whole service see: service, Redis and receivers are a process each, and clients are made through the
// operator's interface, each with an address of its own.
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTestRedis } from '#test/support/servers/redis.ts'
import type { Ground } from '../harness/ground.ts'
import { median } from '../harness/load.ts'
import { ROOT } from '../harness/programs.ts'
import { atMost, type Figure, plain } from '../harness/report.ts'
import { startPinned } from '../harness/servers.ts'
import type { Arrival } from './receivers.ts'

type Kind = 'quick' | 'turning'

/** Endpoints, of which some begin to hang at one moment, and signals after that. */
type Onset = Readonly<Record<'healthy' | 'turning' | 'signals' | 'everyMs', number>>

const ONSETS: readonly Onset[] = [
  { healthy: 1_200, turning: 300, signals: 6, everyMs: 2_500 },
  { healthy: 4_000, turning: 1_000, signals: 6, everyMs: 2_000 },
]

/** What a subscriber waits for. */
const MOST_MS = 1_000

/** Registrations at a time: each is a signal and a test of the address. */
const AT_ONCE = 50

/** Signals before any endpoint hangs. */
const BEFORE = 2

export async function measureService(ground: Ground, onsets = ONSETS): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const onset of onsets) figures.push(...(await measureOnset(ground, onset)))
  return figures
}

async function measureOnset(
  ground: Ground,
  { healthy, turning, signals, everyMs }: Onset,
): Promise<Figure[]> {
  const scene = await startScene(ground)
  await scene.add('quick', healthy)
  await scene.add('turning', turning)
  const firedAt = new Map<number, number>()
  const fire = async (): Promise<void> => {
    const atMs = Date.now()
    firedAt.set(await scene.fire(), atMs)
    await sleep(everyMs)
  }
  for (let i = 0; i < BEFORE; i++) await fire()
  await scene.turn()
  const before = new Set(firedAt.keys())
  for (let i = 0; i < signals; i++) await fire()
  const isMeasured = ({ kind, seq }: Arrival): boolean =>
    kind === 'quick' && firedAt.has(seq) && !before.has(seq)
  const arrived = await scene.arrivals(isMeasured, healthy * signals)
  const waits = arrived.map(({ seq, atMs }) => atMs - firedAt.get(seq)!)
  await scene.stop()
  const name = `whole service, fire to receipt after ${turning} of ${healthy + turning} began to hang at one moment, a signal every ${everyMs / 1_000} s, healthy`
  return [
    plain(`${name} p50`, median(waits), 'ms'),
    atMost(`${name} p99`, waits.toSorted((a, b) => a - b)[Math.floor(0.99 * waits.length)]!, MOST_MS, 'ms'),
  ]
}

/** A service with its Redis and its receivers. */
async function startScene({ sample, folder, stops }: Ground) {
  const redis = await startTestRedis()
  const receivers = fork(join(import.meta.dirname, 'receivers.ts'))
  const [port] = (await once(receivers, 'message')) as [number] // sent by receivers.ts
  const token = randomBytes(32).toString('hex')
  const own = join(folder, `service-${port}`)
  const service = await startPinned(
    ['node', join(ROOT, 'cli/launcher.mjs'), 'serve', 'signals'],
    {
      ...{ REDIS_URL: redis.url, STORE_URL: sample.url, DATA_FOLDER: join(own, 'data') },
      PRIVATE_STORE_URL: `file://${join(own, 'private')}`, // it knows the numbers of its Redis
      ...{ SIGNALS_PORT: '0', OPERATOR_PORT: '0', OPERATOR_TOKEN: token, LOG_LEVEL: 'warn' },
      ...{ SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`, ALLOW_PRIVATE_WEBHOOKS: 'yes' },
    },
    /^operator interface on (\S+)\/ops$/,
    'all',
  )
  let stopped = false
  const stop = async (): Promise<void> => {
    if (stopped) return
    stopped = true
    await service.stop()
    receivers.disconnect()
    await redis.stop()
  }
  stops.push(stop)
  const ask = (path: string, body: unknown, method = 'POST'): Promise<unknown> =>
    send(`${service.url}/ops${path}`, token, method, body)
  let made = 0
  const add = async (kind: Kind): Promise<void> => {
    const i = ++made
    const id = `c${i}`
    await ask('/clients', { id, aliases: [ALIAS], activate: true })
    const host = `127.${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`
    await ask(`/clients/${id}/webhook`, { url: `http://${host}:${port}/${kind}/${i}` }, 'PUT')
  }
  let fired = 0
  return {
    stop,
    async add(kind: Kind, count: number): Promise<void> {
      for (let i = 0; i < count; i += AT_ONCE)
        await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - i) }, () => add(kind)))
    },
    /** Fires a signal, and gives its number. */
    async fire(): Promise<number> {
      const signal_id = `s${++fired}`
      const timestamp = `${new Date().toISOString().slice(0, 19)}Z`
      const entry = { alias: ALIAS, action: 'long', signal_price: 50_000, stop: 49_000, base_risk_pct: 0.02 }
      const { data } = (await ask('/signals', { signal_id, timestamp, ...entry })) as {
        data: { seq: number }
      }
      return data.seq
    },
    turn: async (): Promise<void> => void receivers.send('turn'),
    /** The deliveries of a kind, once so many have arrived. */
    async arrivals(is: (arrival: Arrival) => boolean, count: number): Promise<readonly Arrival[]> {
      const all: Arrival[] = []
      for (;;) {
        receivers.send('report')
        const [arrived] = (await once(receivers, 'message')) as [Arrival[]]
        all.push(...arrived.filter(is))
        if (all.length >= count) return all
        await sleep(100)
      }
    },
  }
}

const ALIAS = 'alder'

async function send(url: string, token: string, method: string, body: unknown): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return response.json()
}
