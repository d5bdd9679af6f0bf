// `highwater run` and `serve` in this process, on their own Redis: who may read it, which port it has, and how they end.
import { once } from 'node:events'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openLimits } from '#cli/services/open-signals.ts'
import { createStarted, startTimer } from '#cli/services/started.ts'
import { atEnd } from '../../support/ends.ts'
import { addressIn } from '../../support/history/history-process.ts'
import { processesOf } from '../../support/processes.ts'
import { listenOn, ownPort } from '../../support/servers/own-port.ts'
import { sharedRedis } from '../../support/servers/use-redis.ts'
import {
  environmentOf,
  publishedDataFolder,
  redisOf,
  type ServedHere,
  serveHere,
  urlIn,
} from '../../support/signals/signals-process.ts'
import { run } from '../made-up.ts'

const HISTORY = /^history service on (http:\/\/\S+)\n/m

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777

/** What a server replies to a stranger. */
const replyTo = (text: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.once('error', reject)
    socket.once('data', reply => {
      socket.destroy()
      resolve(String(reply))
    })
  })

test('`highwater serve signals` runs a Redis that only its owner can read and use, shows no key, and logs requests without one', async () => {
  const folder = await publishedDataFolder()
  const serving = await serveHere(folder)
  expect((await fetch(`${serving.signalsUrl}/readyz`)).status).toBe(200)
  const env = { ...environmentOf(folder), OPERATOR_URL: serving.operatorUrl }
  const added = await run(['ops', 'clients', 'add', 'acme'], { env })
  expect(added).toMatchObject({ code: 0 })
  await expect.poll(serving.printed).toContain('"route":"/ops/clients"')
  const redis = join(folder, 'redis')
  expect(await modeOf(redis)).toBe(0o700)
  for (const entry of await readdir(redis, { recursive: true, withFileTypes: true })) {
    const wanted = entry.isDirectory() ? 0o700 : 0o600
    expect([entry.name, await modeOf(join(entry.parentPath, entry.name))]).toEqual([entry.name, wanted])
  }
  expect(await modeOf(join(folder, 'redis-url'))).toBe(0o600)
  const { password, port } = new URL(await urlIn(folder))
  expect(password).toMatch(/^[0-9a-f]{64}$/)
  expect(await replyTo('KEYS *\r\n', Number(port))).toMatch(/^-NOAUTH/)
  expect(await serving.stop()).toBe(0)
  expect(serving.printed()).not.toMatch(new RegExp(`hw_|history service|demo|${password}`))
  expect(processesOf(folder)).toEqual([])
})

test('a signals service with SEALS=off says so to its operator and by `highwater seals status`', async () => {
  const folder = await publishedDataFolder()
  const serving = await serveHere(folder, ['serve', 'signals'], { SEALS: 'off' })
  const env = { ...environmentOf(folder), OPERATOR_URL: serving.operatorUrl, SEALS: 'off' }
  const [ops, status] = [
    await run(['ops', 'seals', '--json'], { env }),
    await run(['seals', 'status'], { env }),
  ]
  expect(JSON.parse(ops.out)).toMatchObject({ n: 0, refused: 'off, as SEALS=off of the service says' })
  expect(status.out).toContain('has no seals: off, as SEALS=off of the service says')
})

test('a signals service whose key of seals signs versions, too, does not start', async () => {
  const folder = await publishedDataFolder()
  const key = join(folder, 'one.pem')
  expect(await run(['keys', 'new', key])).toMatchObject({ code: 0 })
  const env = { ...environmentOf(folder), SIGNING_KEY_FILE: key, SEAL_KEY_FILE: key }
  const { code, err } = await run(['serve', 'signals'], { env })
  expect([code, err]).toEqual([2, expect.stringContaining('SIGNING_KEY_FILE hold the same key')])
})

/** Starts the service where its Redis had a port, and stops it; the address that its Redis has. */
async function addressAfter(folder: string, last?: URL): Promise<URL> {
  if (last !== undefined) await writeFile(join(folder, 'redis-url'), last.href)
  const serving = await serveHere(folder)
  const address = new URL(await urlIn(folder))
  expect(await serving.stop()).toBe(0)
  return address
}

test('the Redis of a data folder has the same port and password after a restart, and another port if a program or its connection took it', async () => {
  const folder = await publishedDataFolder()
  const first = await addressAfter(folder, new URL(`redis://:none@127.0.0.1:${await ownPort()}`))
  expect(await addressAfter(folder)).toEqual(first)
  const port = await listenOn(createServer(), Number(first.port))
  const connection = connect(port, '127.0.0.1')
  atEnd(() => connection.destroy())
  await once(connection, 'connect')
  for (const each of [port, connection.localPort]) {
    const taken = new URL(first)
    taken.port = String(each)
    const moved = await addressAfter(folder, taken)
    expect([moved.port === taken.port, moved.password]).toEqual([false, first.password])
  }
})

test.each<[string, (serving: ServedHere) => Promise<unknown>]>([
  ['before it', serving => expect.poll(serving.printed).toContain('restarting it (1 of 3)')],
  ['when it listens no more', ({ signalsUrl }) => expect.poll(() => isUp(signalsUrl)).toBe(false)],
])('`highwater run` that is asked to end does so by itself if its Redis dies %s', async (when, reached) => {
  const folder = await publishedDataFolder()
  const serving = await serveHere(folder, ['run'])
  const { pid } = await redisOf(folder)
  const stop = when === 'before it' ? null : serving.stop()
  if (stop !== null) await reached(serving)
  killOrGone(pid)
  if (stop === null) await reached(serving)
  expect(await (stop ?? serving.stop())).toBe(0)
  expect(processesOf(folder)).toEqual([])
})

const isUp = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  )

/** On a quick machine it has ended already. */
function killOrGone(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

test.each(['run', 'serve signals'])(
  '`highwater %s` ends with a sentence and exit code 1 if its Redis cannot start any more, and leaves no process',
  async command => {
    const folder = await publishedDataFolder()
    const serving = await serveHere(folder, command.split(' '))
    await damageRedis(folder)
    killOrGone((await redisOf(folder)).pid)
    expect(await serving.ended).toBe(1)
    expect(serving.printed()).toMatch(/our Redis ended repeatedly, .*redis\.log reports/)
    expect(processesOf(folder)).toEqual([])
  },
)

/** Nothing can be loaded from it at the next start. */
async function damageRedis(folder: string): Promise<void> {
  const files = join(folder, 'redis/appendonlydir')
  const manifests = (await readdir(files)).filter(name => name.endsWith('.manifest'))
  expect(manifests).toHaveLength(1)
  for (const name of manifests) await writeFile(join(files, name), 'no manifest\n')
}

test('`highwater serve all` serves the history too, and signals on the Redis of REDIS_URL, and starts none', async () => {
  const folder = await publishedDataFolder()
  const { url, connect } = await sharedRedis()
  await (await connect()).flushall()
  const all = await serveHere(folder, ['serve', 'all'], { REDIS_URL: url })
  const history = addressIn(HISTORY.exec(all.printed())!)
  expect((await fetch(`${history}/v1/strategies`)).status).toBe(200)
  expect((await fetch(`${all.signalsUrl}/readyz`)).status).toBe(200)
  expect(processesOf(folder).filter(({ command }) => command.includes('redis-server'))).toEqual([])
  expect(await all.stop()).toBe(0)
})

test.each(['run', 'serve all'])(
  '`highwater %s` that cannot listen on a port says so, ends, and leaves no process',
  async command => {
    const folder = await publishedDataFolder()
    const port = await listenOn(createServer())
    const env = { ...environmentOf(folder), OPERATOR_PORT: String(port) }
    const { code, err } = await run(command.split(' '), { env })
    expect(code).toBe(1)
    expect(err).toContain(`cannot listen on 127.0.0.1:${port}: another process has the port`)
    expect(processesOf(folder)).toEqual([])
  },
)

test('a connection that is closed before Redis answers is no error: a service that cannot start says why, and nothing else', async () => {
  const errors: unknown[] = []
  const started = createStarted()
  const silent = `redis://127.0.0.1:${await listenOn(createServer())}`
  const clock = { now: Date.now, elapsed: () => 0, startTimer }
  openLimits({ order: { redisUrl: silent }, clock, onError: error => void errors.push(error) }, started)
  await setImmediate()
  await started.endAll()
  await setImmediate()
  expect(errors).toEqual([])
})
