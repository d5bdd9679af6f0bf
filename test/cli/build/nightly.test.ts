// A night from the import to the ping: its steps in order, its alerts, and what a night that fails leaves behind.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { withStoreLock } from '#cli/build/guard-pointer.ts'
import type { Runtime } from '#cli/runtime.ts'
import { documentKey, privateKey } from '#core/contract/artifacts.ts'
import { CURRENT_KEY } from '#core/contract/pointer.ts'
import { openStore } from '#storage/open-store.ts'
import { csv } from '#test/pipeline/night/night-book.ts'
import { writeFiles } from '#test/support/temporary-folder.ts'
import { listenForTest } from '../../support/http/listen-for-test.ts'
import { madeUp, NOW_MS } from '../made-up.ts'
import { BARS, BOOK, openBook } from '../own-book.ts'

/** All but the bars, which the import brings. */
const { 'bars/BTCUSDT-PERP/1d.csv': _bars, ...WITHOUT_BARS } = BOOK

const IMPORT = 'mkdir -p bars/BTCUSDT-PERP && cp ../fetched.csv bars/BTCUSDT-PERP/1d.csv'

const VERSION = '2024-01-15T06:00:00Z'

async function aNight(env: Readonly<Record<string, string>> = {}) {
  const { folder, stores, store, served, onStore } = await openBook(WITHOUT_BARS)
  await writeFiles(folder, { 'fetched.csv': BARS })
  const receiver = await startReceiver()
  const privateStore = await openStore(stores.privateUrl)
  const whole = {
    PATH: process.env.PATH ?? '',
    NIGHTLY_IMPORT_COMMAND: IMPORT,
    NIGHTLY_PING_URL: `${receiver.url}/check?key=1`,
    ALERT_URL: `${receiver.url}/alert`,
    ...env,
  }
  const nightly = (world: Partial<Runtime> = {}, ...more: readonly string[]) =>
    onStore(['nightly', '--book', 'book', ...more], { ...world, env: { ...whole, ...world.env } })
  const alerts = () =>
    receiver.posted
      .filter(({ path }) => path === '/alert')
      .map(({ body }) => alertSchema.parse(JSON.parse(body)))
  return { folder, store, privateStore, receiver, nightly, served, alerts }
}

const alertSchema = z.object({ kind: z.string(), subject: z.string(), message: z.string(), at: z.string() })

const reportSchema = z.object({
  outcome: z.enum(['done', 'failed']),
  version: z.string().nullable(),
  steps: z.array(z.object({ step: z.string(), outcome: z.string(), ms: z.number() })),
  error: z.string().nullable(),
  summary: z.object({ version: z.string() }).nullish(),
})

const stepsOf = (text: string) =>
  reportSchema.parse(JSON.parse(text)).steps.map(({ step, outcome }) => `${step} ${outcome}`)

const FAILING = { NIGHTLY_IMPORT_COMMAND: 'echo no route to the exchange >&2; exit 7' }

test('a night imports, builds, verifies and purges, is served, keeps its report, and pings at both ends; run again without import, ping and alert, it publishes the same data as one more version, and prints what took how long', async () => {
  const { nightly, served, privateStore, receiver, alerts } = await aNight()
  const { code, out, err } = await nightly({}, '--json')
  expect([code, err]).toEqual([0, ''])
  expect(stepsOf(out)).toEqual(['import done', 'build done', 'verify done', 'purge done'])
  expect(await served()).toBe(VERSION)
  const kept = await privateStore.read(privateKey(VERSION, 'night.json'))
  expect(JSON.parse(new TextDecoder().decode(kept ?? new Uint8Array()))).toEqual(JSON.parse(out))
  expect(receiver.paths()).toEqual(['/check/start?key=1', '/check?key=1'])
  expect(reportSchema.parse(JSON.parse(receiver.posted[1]!.body))).toMatchObject({ outcome: 'done' })
  const env = { NIGHTLY_IMPORT_COMMAND: '', NIGHTLY_PING_URL: '', ALERT_URL: '' }
  const again = await nightly({ env, now: () => NOW_MS + 60_000 })
  expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/^published 2024-01-15T06:01:00Z /) })
  expect(again.out).toMatch(
    /\nnight done: 2024-01-15T06:01:00Z published .*\nok {6}build .*\nok {6}verify .*\nok {6}purge /,
  )
  expect(await served()).toBe('2024-01-15T06:01:00Z')
  expect([receiver.paths().length, alerts()]).toEqual([2, []])
})

test('a night names the bars that its book lacks: up to the last midnight, and in gaps of the last week', async () => {
  const { folder, nightly } = await aNight()
  await writeFiles(folder, { 'fetched.csv': BARS.replaceAll(/2024-01-(05|11).*\n/g, '') })
  const { out } = await nightly({ now: () => NOW_MS + 86_400_000 })
  expect(out.match(/(?<=lacks 1 bar from )\S{10}/g)).toEqual(['2024-01-11', '2024-01-15'])
})

test('a night gives its import the environment of the operator, and none of its own variables', async () => {
  const { folder, nightly } = await aNight({
    VENDOR_KEY: 'theirs',
    SECRET_KEY: `k1:${Buffer.alloc(32).toString('base64')}`,
    NIGHTLY_IMPORT_COMMAND: 'env > ../env.txt; exit 7', // so that nothing is built
  })
  expect((await nightly()).code).toBe(1)
  const given = readFileSync(join(folder, 'env.txt'), 'utf8')
  expect(given).toContain('VENDOR_KEY=theirs')
  expect(given).not.toMatch(/^(?:SECRET_KEY|NIGHTLY_|ALERT_)/m)
})

test('a night each day begins at its time of day, also after one that failed, until the process is stopped', async () => {
  const { folder, nightly, served, alerts } = await aNight()
  let nowMs = NOW_MS // 06:00
  let stop = (): void => {}
  const world: Partial<Runtime> = {
    now: () => nowMs,
    pause: async ms => {
      nowMs += ms
    },
    untilStopped: () =>
      new Promise(resolve => {
        stop = resolve
      }),
  }
  await writeFiles(folder, { 'fetched.csv': 'nothing' })
  const running = nightly(world, '--at', '06:30')
  await expect.poll(() => alerts().map(({ kind }) => kind)).toEqual(['night_failed'])
  await writeFiles(folder, { 'fetched.csv': BARS })
  await expect.poll(served).not.toBeNull()
  stop()
  const { code, err } = await running
  expect(code).toBe(0)
  expect(err).toContain('the next night begins at 2024-01-15T06:30:00Z')
  expect(err).toContain('the next night begins at 2024-01-16T06:30:00Z')
  expect(await served()).toMatch(/T06:30:00Z$/)
})

test('a night that fails exits 1, publishes nothing, prints where and why, and pings /fail with it', async () => {
  const { nightly, served, receiver } = await aNight(FAILING)
  const { code, out, err } = await nightly({}, '--json')
  expect([code, stepsOf(out), await served()]).toEqual([1, ['import failed'], null])
  expect(err).toBe(
    'import: no route to the exchange\nhighwater: the import ended with 7; see its output above\n',
  )
  expect(receiver.paths()).toEqual(['/check/start?key=1', '/alert', '/check/fail?key=1'])
  expect(receiver.posted[2]!.body).toContain('the import ended with 7')
})

test('a night that was killed is reported as one that failed, until one succeeds', async () => {
  const { nightly, receiver, alerts } = await aNight()
  expect(await nightly({}, '--killed')).toMatchObject({ code: 0, out: '' })
  expect(receiver.paths()).toEqual(['/alert', '/check/fail?key=1'])
  await nightly()
  const message = expect.stringContaining('it was killed')
  expect(alerts()).toMatchObject([{ kind: 'night_failed', message }, { kind: 'night_mended' }])
})

test('a night that cannot begin, because its store cannot be written, is reported as one that failed', async () => {
  const { nightly, store, receiver, alerts } = await aNight()
  await store.create('lock', new Uint8Array(), { content_type: 'text/plain' }) // where the folder of locks belongs
  expect((await nightly()).code).toBe(1)
  expect(receiver.paths()).toEqual(['/alert', '/check/fail?key=1'])
  expect(alerts()).toMatchObject([{ kind: 'night_failed', subject: 'night' }])
})

test('a night raises one alert for each cause, whatever numbers it has, and one more when a job succeeds; a faulty book leaves the version before served', async () => {
  const { folder, nightly, served, alerts } = await aNight()
  const broken = (c: number) => csv('t,o,h,l,c,v', `2024-01-01T00:00:00Z,100,99,98,${c},1`)
  await writeFiles(folder, { 'fetched.csv': broken(100) })
  await nightly()
  await writeFiles(folder, { 'fetched.csv': broken(200) })
  await nightly({ now: () => NOW_MS + 60_000 })
  expect(alerts()).toMatchObject([{ kind: 'night_failed', subject: 'build' }])
  await writeFiles(folder, { 'fetched.csv': BARS })
  for (const minutes of [2, 3]) await nightly({ now: () => NOW_MS + minutes * 60_000 })
  expect(alerts().map(({ kind }) => kind)).toEqual(['night_failed', 'night_mended'])
  expect(alerts()[1]!.message).toContain(`failures since ${VERSION}: 2024-01-15T06:02:00Z is published`)
  await writeFiles(folder, { 'fetched.csv': broken(100) })
  const { code, err } = await nightly({ now: () => NOW_MS + 240_000 })
  expect([code, await served()]).toEqual([1, '2024-01-15T06:03:00Z'])
  expect(err).toContain('bars/BTCUSDT-PERP/1d.csv:2: h: expected')
})

test('a night whose published version is damaged exits 1, and keeps its report beside the version', async () => {
  const { folder, nightly, privateStore, alerts } = await aNight()
  // The stopwatch is read when the pointer has moved, and before the version is read back.
  const elapsed = () => {
    if (existsSync(join(folder, 'store', CURRENT_KEY))) damageChecksums(join(folder, 'store'))
    return 0
  }
  const { code, out, err } = await nightly({ elapsed }, '--json')
  expect([code, stepsOf(out)]).toEqual([1, ['import done', 'build done', 'verify failed']])
  expect(err).toMatch(/1 fault\(s\); the service computes answers whose files are corrupt/)
  expect(await privateStore.read(privateKey(VERSION, 'night.json'))).not.toBeNull()
  expect(alerts()).toMatchObject([{ kind: 'night_failed', subject: 'verify' }])
})

test('a night whose ping fails is published, and warns without the address', async () => {
  const { url } = await startReceiver(500)
  const { nightly } = await aNight({ NIGHTLY_PING_URL: `${url}/hidden` })
  const { code, err } = await nightly()
  expect(code).toBe(0)
  expect(err).toBe(
    ['start', 'done']
      .map(what => `warning: the ping (${what}) failed: NIGHTLY_PING_URL answered 500\n`)
      .join(''),
  )
})

test('a second nightly job is refused before its import, and reports nothing: the first one does', async () => {
  const { folder, store, nightly, receiver } = await aNight({
    NIGHTLY_IMPORT_COMMAND: `${IMPORT}; exit 7`, // so that nothing is built
  })
  const refused = await withStoreLock(store, madeUp().runtime, () => nightly(), 'night')
  expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('another night of') })
  expect(receiver.paths()).toEqual([])
  expect(readdirSync(join(folder, 'book'))).not.toContain('bars')
  expect((await nightly()).err).toContain('the import ended with 7')
  expect(readdirSync(join(folder, 'book'))).toContain('bars')
})

test('a night with wrong usage exits 2 and sends no ping', async () => {
  const { nightly, receiver } = await aNight()
  expect(await nightly({}, '--threads', '0')).toMatchObject({ code: 2, out: '' })
  const late = await nightly({}, '--at', '24:00')
  expect(late.code).toBe(2)
  expect(late.err).toContain("--at: expected a time of day such as 00:15, got '24:00'")
  expect(receiver.paths()).toEqual([])
})

function damageChecksums(store: string): void {
  const path = join(store, documentKey(VERSION, 'SHA256SUMS'))
  if (existsSync(path)) writeFileSync(path, 'damaged')
}

type Posted = { readonly path: string; readonly body: string }

/** Takes everything, until the test ends. */
async function startReceiver(status = 200) {
  const posted: Posted[] = []
  const server = createServer(async (request, response) => {
    posted.push({ path: request.url ?? '', body: await text(request) })
    response.writeHead(status).end()
  })
  return { url: await listenForTest(server), posted, paths: () => posted.map(({ path }) => path) }
}
