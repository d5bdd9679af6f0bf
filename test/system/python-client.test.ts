// The Python client as its users have it: a wheel made without a network, against real services, and its page run as it stands.

import { existsSync } from 'node:fs'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readSignal } from '#signals/log/read-log.ts'
import { createWebhookSecret, signedHeaders } from '#signals/send/sign.ts'
import { declareAll } from '#static-build/declarations.ts'
import { newSigner } from '#test/static-build/signed-store.ts'
import { publishBook, TINY_BOOK } from '../support/books/publish-book.ts'
import { atEnd } from '../support/ends.ts'
import { startProcess } from '../support/history/highwater-process.ts'
import { servedVersion, serveForTest } from '../support/history/history-process.ts'
import { publishSigned, serveStores } from '../support/history/signed-service.ts'
import { listenForTest } from '../support/http/listen-for-test.ts'
import { blocksIn } from '../support/page-blocks.ts'
import { DEBIAN_PYTHON, pipEnv } from '../support/pandas.ts'
import type { Exit } from '../support/processes.ts'
import { shared } from '../support/runner/shared.ts'
import { sharedRedis } from '../support/servers/use-redis.ts'
import { until } from '../support/signals/delivery.ts'
import { startPullService } from '../support/signals/receiver-kit.ts'
import { sealCases, startSealed } from '../support/signals/sealed-chain.ts'
import { fire, seededBytes } from '../support/signals/signals.ts'
import { newStores } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const CLIENT = join(import.meta.dirname, '../../clients/python')
const TESTS = join(import.meta.dirname, '../clients/python')

const blocks = (language: string) => blocksIn('clients/python/README.md', language)

/** No index is asked, and nothing that is there already is installed again. */
const OFFLINE = { PIP_NO_INDEX: '1', PIP_NO_BUILD_ISOLATION: 'false', PIP_NO_CACHE_DIR: '1' }

let env: Readonly<Record<string, string>>
let folder: string
let installing: Exit

/** Runs Debian's Python with the installed package, pandas and cryptography. */
const python = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Exit> =>
  startProcess(DEBIAN_PYTHON, args, {
    cwd: folder,
    env: { ...env, ...more, PYTHONPATH: `${join(folder, 'installed')}:${TESTS}:${env.PYTHONPATH}` },
  }).ended

/** What the client does, and the file of tests that shows it. */
const SHOWN = [
  ['gives the published numbers, keeps them on disk, and refuses what was altered', 'test_history'],
  ['stays at its version while others are published, and keeps exports up to date', 'test_versions'],
  ['verifies what is signed, and names what was altered', 'test_verify'],
  ['pulls signals without a gap, and verifies deliveries as the service signs them', 'test_signals'],
] as const

/** Runs each file by itself in one process: importing pandas takes longer than most tests. */
const RUN_EACH = `
import io, json, sys, unittest
printed = {}
for name in sys.argv[1:]:
    text = io.StringIO()
    unittest.TextTestRunner(text).run(unittest.defaultTestLoader.loadTestsFromName(name))
    printed[name] = text.getvalue()
print(json.dumps(printed))
`

const texts = z.record(z.string(), z.string())

const isThere = existsSync(DEBIAN_PYTHON)

describe.skipIf(!isThere)(`the Python client${isThere ? '' : ` (skipped: no ${DEBIAN_PYTHON})`}`, () => {
  beforeAll(async () => {
    env = { ...(await pipEnv()), PATH: '/usr/bin:/bin' }
    folder = await lastingFolder()
    await cp(CLIENT, join(folder, 'clients/python'), { recursive: true })
    const order = { ...OFFLINE, PIP_NO_DEPS: '1', PIP_TARGET: join(folder, 'installed') }
    const [command = ''] = blocks('sh')
    installing = await startProcess('sh', ['-c', command], { cwd: folder, env: { ...env, ...order } }).ended
  })

  test('the Python client is installed as its page says, as a wheel for every platform with its types', async () => {
    expect([installing.code, installing.stderr]).toEqual([0, expect.not.stringContaining('ERROR')])
    const installed = await readdir(join(folder, 'installed'))
    const [info = ''] = installed.filter(name => /^highwater_client-[\d.]+\.dist-info$/.test(name))
    expect(await readFile(join(folder, 'installed', info, 'WHEEL'), 'utf8')).toMatch(/^Tag: py3-none-any$/m)
    expect(await readdir(join(folder, 'installed/highwater_client'))).toContain('py.typed')
  })

  let history: string
  /** What each file of tests printed. */
  let printed: Readonly<Record<string, string>>

  beforeAll(async () => {
    history = (await shared('sample')).url
    const { url, token, deliveries } = await signalsService()
    const cases = join(folder, 'seals.json')
    await writeFile(cases, JSON.stringify(await sealCases()))
    const { code, stdout, stderr } = await python(
      ['-W', 'error::FutureWarning', '-c', RUN_EACH, ...SHOWN.map(([, file]) => file)],
      {
        HISTORY_URL: history,
        ...(await serveVersions()),
        SIGNED_URL: await serveSigned(),
        ...{
          SIGNALS_URL: url,
          SIGNALS_KEY: token,
          DELIVERIES: JSON.stringify(deliveries),
          SEAL_CASES: cases,
        },
      },
    )
    expect([code, stderr]).toEqual([0, ''])
    printed = texts.parse(JSON.parse(stdout))
  })

  test.each(SHOWN)('the Python client, in tests of its own, %s', (_what, file) => {
    expect(printed[file]).toMatch(/\nRan \d+ tests? in [\d.]+s\n\nOK\n$/) // and none was skipped
  })

  test('the Python client does what its page says', async () => {
    const signals = await signalsService()
    const script = blocks('python')
      .join('')
      .replaceAll('http://127.0.0.1:8080', history)
      .replaceAll('http://127.0.0.1:8081', signals.url)
      .replaceAll('hw_live_your_key', signals.token)
    const delivery = signals.deliveries.plain
    const receive = `
delivery = ${JSON.stringify(delivery)}
print([s['seq'] for s in receive({**delivery['headers'], 'X-Prev-Seq': '4'}, delivery['body'].encode(), '${signals.deliveries.new}', 2)])
print([s['seq'] for s in receive({**delivery['headers'], 'X-Prev-Seq': '0'}, delivery['body'].encode(), '${signals.deliveries.new}', 0)])
`
    const { code, stdout, stderr } = await python(['-c', script + receive])
    // The last is the test of the endpoint that the page sets.
    expect([code, stderr, stdout]).toEqual([0, '', `${blocks('text').join('')}[3, 4, 5, 6]\n[1]\n`])
  })
})

/** A service of the tiny book, and an address at which each POST publishes the next night and waits until it is served. */
async function serveVersions() {
  const stores = await newStores()
  const restated = join(await lastingFolder(), 'restated')
  await cp(TINY_BOOK, restated, { recursive: true })
  const returns = join(restated, 'returns/elm.csv')
  const rows = (await readFile(returns, 'utf8')).split('\n')
  await writeFile(returns, rows.with(100, `${rows[100]?.split(',')[0]},0.0123`).join('\n'))
  const nights = [
    { book: TINY_BOOK, asOf: '2025-02-19', version: '2025-02-21T00:15:00Z' },
    { book: TINY_BOOK, asOf: '2025-02-20', version: '2025-02-22T00:15:00Z' },
    { book: TINY_BOOK, asOf: '2025-02-22', version: '2025-02-24T00:15:00Z' },
    { book: restated, asOf: '2025-02-22', version: '2025-02-25T00:15:00Z', declared: declareAll('a test') },
  ]
  const publishNext = async (): Promise<string> => {
    const { book, ...night } = nights.shift()!
    await publishBook(book, stores, night)
    return night.version
  }
  await publishNext()
  const url = await serveForTest(stores)
  const control = await onPost(async () => {
    const version = await publishNext()
    await until(async () => (await servedVersion({ url })) === version)
    return version
  })
  return { VERSIONS_URL: url, CONTROL_URL: control }
}

/** The address of a service of signed versions. */
async function serveSigned(): Promise<string> {
  const now = Date.now() // the client asks the clock of the machine
  return serveStores(await publishSigned(newSigner(), () => now))
}

/** The address of a server that answers each POST with what `act` gives. */
async function onPost(act: () => Promise<string>): Promise<string> {
  const server = createServer((_request, response) => {
    act().then(
      text => response.end(text),
      error => response.writeHead(500).end(String(error)),
    )
  })
  return listenForTest(server)
}

/** A pull service with five signals, for the running test, and deliveries of the first as the service signs them. */
async function signalsService() {
  const redis = await (await sharedRedis()).connect()
  await redis.flushall()
  const sealed = await startSealed(redis)
  const service = await startPullService(redis, sealed.changes)
  atEnd(service.close)
  for (const id of ['s1', 's2', 's3', 's4', 's5']) await fire(redis, id, 'alder')
  await sealed.seal(1, 2, 3, 4, 5)
  const body = (await readSignal(redis, 1))?.body ?? ''
  const [fresh, old, other] = ['new', 'old', 'other'].map(name => createWebhookSecret(seededBytes(name)))
  const sign = (secrets: readonly string[], lateMs = 0, text = body) => {
    const bytes = new TextEncoder().encode(text)
    const delivery = { body: bytes, id: 's1', seq: 1, prevSeq: 0, attempt: 1, sentAtMs: Date.now() - lateMs }
    return { headers: signedHeaders(delivery, secrets), body: text }
  }
  const deliveries = {
    ...{ new: fresh!, old: old!, other: other! },
    ...{ plain: sign([fresh!]), rotated: sign([fresh!, old!]) },
    ...{ stale: sign([fresh!], 3_600_000), early: sign([fresh!], -3_600_000) },
    strange: sign([fresh!], 0, '{"seq":"7"}'),
    notice: sign([fresh!], 0, '{"event":"endpoint_failing","endpoint":"backup"}'),
  }
  return { url: service.url, token: service.token, deliveries }
}
