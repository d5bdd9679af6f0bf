// The client as its users get it: packed, installed without a network, compiled by a strict TypeScript, and run beside the
// services by each Node of this machine, and in Chromium in a page of another origin. The programs are the examples of its README.
import { spawnSync } from 'node:child_process'
import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { readSignal } from '#signals/log/read-log.ts'
import { signedHeaders } from '#signals/send/sign.ts'
import type { Signer } from '#storage/signature.ts'
import { newSigner } from '#test/static-build/signed-store.ts'
import { watchedService } from '../clients/typescript/watched-service.ts'
import { FIRST_VERSION } from '../support/books/small-book.ts'
import { openBrowser } from '../support/browser/shared-browser.ts'
import { atEndOfFile } from '../support/ends.ts'
import { startProcess } from '../support/history/highwater-process.ts'
import { SETTINGS } from '../support/history/history-app.ts'
import { publishSigned, serveStores } from '../support/history/signed-service.ts'
import { start } from '../support/http/raw-server.ts'
import { blocksIn } from '../support/page-blocks.ts'
import type { Exit } from '../support/processes.ts'
import { shared } from '../support/runner/shared.ts'
import { sharedRedis } from '../support/servers/use-redis.ts'
import { SECRET, startPullService } from '../support/signals/receiver-kit.ts'
import { fire } from '../support/signals/signals.ts'
import { lastingFolder, writeFiles } from '../support/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
const CLIENT = join(ROOT, 'clients/typescript')

/** The first Node of the path for each major version: the one that runs the tests, and any other. */
const NODES: readonly (readonly [version: string, program: string])[] = [
  ...new Map(
    (process.env.PATH ?? '')
      .split(delimiter)
      .map(folder => join(folder, 'node'))
      .toReversed()
      .flatMap(program => {
        const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
        const major = /^v(\d+)/.exec(stdout ?? '')?.[1]
        return major !== undefined && Number(major) >= 20 ? [[major, program] as const] : []
      }),
  ),
]

/** What is refused at compile time, beside what is accepted. */
const USE = `
import { Highwater, HighwaterError, type Stats, type Strategy } from 'highwater-client'

export async function use(book: Highwater): Promise<readonly (number | string | null)[]> {
  const alder = book.strategy('alder')
  // @ts-expect-error the parameter is risk_pct
  await alder.stats({ risk: 0.01 })
  // @ts-expect-error a level is a number
  await alder.curve({ risk_pct: '0.01' })
  // @ts-expect-error a period is daily or weekly
  await alder.returns({ period: 'hourly' })
  // @ts-expect-error trades have no risk level
  await alder.trades({ risk_pct: 0.01 })
  // @ts-expect-error a book is opened at a version or at a day
  await Highwater.open('', { version: '2026-07-01T00:15:00Z', asOf: '2026-06-30' })
  const stats: Stats = (await alder.stats({}, { signal: AbortSignal.timeout(1_000) })).data
  // @ts-expect-error the Sharpe ratio may be null
  const sharpe: number = stats.sharpe_daily_annualized
  // @ts-expect-error no statistic has this name
  const colour: number = stats.colour
  const strategy: Strategy = (await alder.meta()).data
  const { data, t, values } = await alder.curve()
  const columns: readonly Float64Array[] = [t, values]
  const side: 'long' | 'short' | undefined = (await alder.trades()).data[0]?.side
  const rho: number | undefined = (await book.correlation({ ids: ['alder'] })).data.matrix[0]?.[0]
  return [sharpe, colour, strategy.instrument, data[0]?.equity ?? null, columns.length, side ?? null, rho ?? null]
}

export const reason = (error: HighwaterError): string => {
  if (error.code === 'not_found') return 'unknown'
  // @ts-expect-error no code is called that
  return error.code === 'not_there' ? 'never' : (error.requestId ?? '')
}
`

const RUN_SIGNALS = `
import { pull, receive } from './signals.js'

const { headers, body } = JSON.parse(process.argv[2] ?? '')
console.log('pulled to', await pull(0))
console.log('received to', await receive(new Request('http://receiver.test', { method: 'POST', headers, body }), 1))
`

/** Every program, one after another: a process for each would start eight. */
const RUN_ALL = `
for (const name of ['example', 'verifying', 'signed', 'run-signals']) await import('./out/' + name + '.js')
`

const STRICT = {
  ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
  ...{ target: 'es2022', verbatimModuleSyntax: true },
}

/** Two kinds of users: programs of Node without the types of a page, and pages that a bundler packs. */
const TSCONFIGS = {
  'tsconfig.json': {
    compilerOptions: { ...STRICT, lib: ['es2023'], types: ['node'], module: 'nodenext', outDir: 'out' },
    files: ['example.ts', 'verifying.ts', 'signed.ts', 'signals.ts', 'run-signals.ts', 'use.ts'],
  },
  'tsconfig.page.json': {
    compilerOptions: {
      ...{ ...STRICT, lib: ['es2023', 'dom'], types: [], module: 'esnext', moduleResolution: 'bundler' },
      noEmit: true,
    },
    files: ['example.ts', 'verifying.ts', 'use.ts'],
  },
}

/** Runs a program in the folder of the consumer, or in another, and gives what it prints. */
const run = (program: string, ...args: string[]): Promise<string> => runIn(consumer, program, args)

async function runIn(cwd: string, program: string, args: readonly string[]): Promise<string> {
  const env = { HOME: cwd, npm_config_cache: join(cwd, '.npm'), HIGHWATER_KEY: key, WEBHOOK_SECRET: SECRET }
  const { code, stdout, stderr } = await startProcess(program, args, { cwd, env }).ended
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${code}: ${stdout}${stderr}`)
  return stdout
}

/** Packs a copy of the client, so that nothing is built in the checkout. */
async function pack(): Promise<{ readonly tarball: string; readonly files: readonly string[] }> {
  const [folder, isSource] = [await lastingFolder(), (path: string) => !/\/(?:dist|generated)$/.test(path)]
  const client = join(folder, 'clients/typescript')
  await cp(CLIENT, client, { recursive: true, filter: isSource })
  for (const name of ['node_modules', 'deploy']) await symlink(join(ROOT, name), join(folder, name))
  const args = ['pack', '--offline', '--json', '--loglevel=silent']
  const stdout = await runIn(client, 'npm', args)
  const [packed] = PACKED.parse(JSON.parse(stdout.slice(stdout.indexOf('[\n'))))
  return {
    tarball: join(client, packed!.filename),
    files: packed!.files.map(({ path }) => path),
  }
}

const PACKED = z.array(z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) }))

/** The programs of the README, in its order: the history, verifying, the signals. */
const [EXAMPLE = '', VERIFYING = '', OF_SIGNALS = ''] = blocksIn('clients/typescript/README.md', 'ts')

const TSC = join(ROOT, 'node_modules/.bin/tsc')

/** Compiles the programs of the consumer, and writes those that are run even if one has a fault. */
const compile = (name: string): Promise<Exit> =>
  startProcess(TSC, ['-p', name], { cwd: consumer, env: { HOME: consumer } }).ended

/** The programs that are run, compiled. */
let compiled: Exit
let packed: Awaited<ReturnType<typeof pack>>
/** A folder in which the package is installed. */
let consumer: string
let history: string
/** The last signal of three for the client of a key, as it is pushed. */
let pushed: string
let key = ''

const serveTonight = async (signer: Signer | null): Promise<string> =>
  serveStores(await publishSigned(signer, Date.now))

beforeAll(async () => {
  packed = await pack()
  consumer = await lastingFolder()
  history = (await shared('history')).url
  const redis = await (await sharedRedis()).connect()
  await redis.flushall()
  const signals = await startPullService(redis)
  atEndOfFile(signals.close)
  key = signals.token
  const aliases = ['alder', 'birch', 'alder', 'alder'] // the client is not entitled to birch
  for (const [i, alias] of aliases.entries()) await fire(redis, `s${i + 1}`, alias)
  const { body = '' } = (await readSignal(redis, 4)) ?? {}
  const order = { id: 's4', seq: 4, prevSeq: 3, attempt: 1, sentAtMs: Date.now() }
  const delivery = { body: new TextEncoder().encode(body), ...order }
  pushed = JSON.stringify({ headers: signedHeaders(delivery, [SECRET]), body })
  await writeFiles(consumer, {
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    // The tiny book has no alder.
    'example.ts': EXAMPLE.replace('http://127.0.0.1:8080', history).replace("'alder'", "'ash'"),
    'verifying.ts': VERIFYING.replace('http://127.0.0.1:8080', await serveTonight(null)),
    'signed.ts': VERIFYING.replace('http://127.0.0.1:8080', await serveTonight(newSigner())),
    'signals.ts': OF_SIGNALS.replace('https://signals.example.org', signals.url),
    'run-signals.ts': RUN_SIGNALS,
    'all.js': RUN_ALL,
    'use.ts': USE,
    ...Object.fromEntries(Object.entries(TSCONFIGS).map(([name, config]) => [name, JSON.stringify(config)])),
  })
  await run('npm', 'install', '--offline', '--no-audit', '--no-fund', packed.tarball)
  await mkdir(join(consumer, 'node_modules/@types'), { recursive: true })
  await symlink(join(ROOT, 'node_modules/@types/node'), join(consumer, 'node_modules/@types/node'))
  compiled = await compile('tsconfig.json')
})

test('the TypeScript package has what it was built to, its description and its licence, and depends on nothing', async () => {
  const built = /^dist\/.*\.(js|d\.ts)$/
  expect(packed.files.filter(path => !built.test(path)).toSorted()).toEqual([
    'LICENSE',
    'README.md',
    'package.json',
  ])
  expect(packed.files.filter(path => built.test(path)).length).toBeGreaterThan(10)
  const description = await readFile(join(consumer, 'node_modules/highwater-client/package.json'), 'utf8')
  expect(Object.keys(JSON.parse(description)).filter(name => /dependencies/i.test(name))).toEqual([])
  expect(await readFile(join(CLIENT, 'LICENSE'), 'utf8')).toBe(await readFile(join(ROOT, 'LICENSE'), 'utf8'))
})

test.each(Object.keys(TSCONFIGS))(
  'a strict program that uses the TypeScript package compiles, and what is misspelt does not: %s',
  async name => {
    const { code, stdout } = name === 'tsconfig.json' ? compiled : await compile(name)
    expect([code, stdout]).toEqual([0, ''])
  },
)

test.each(NODES)(
  'the examples of the TypeScript client print what the services answer, and close the gap that a push shows, with Node %s',
  async (_major, node) => {
    const { version } = await dataOf<{ version: string }>('dataset')
    const { cagr_pct } = await dataOf<{ cagr_pct: number }>('strategies/ash/stats?risk_pct=0.01')
    const data = await dataOf<{ t: string; ret: number }[]>(
      'strategies/ash/returns?risk_pct=0.01&from=2025-01-01',
    )
    const equity = data.reduce((product, { ret }) => product * (1 + ret), 1)
    expect(data.length).toBeGreaterThan(20)
    const [printed = ''] = blocksIn('clients/typescript/README.md', 'text')
    expect(linesOf(await run(node, 'all.js', pushed))).toEqual([
      `${version} 4 ${cagr_pct} false`,
      `${data.at(-1)?.t} ${equity - 1}`,
      "not_found 404 unknown strategy 'nobody'",
      ...linesOf(printed),
      'signatures: of the newest entry and of the manifest',
      ...['1 alder long', '3 alder long', '4 alder long', 'pulled to 4'],
      ...['3 alder long', '4 alder long', 'received to 4'],
    ])
  },
)

/** The payload at a path of the history, as it is documented. */
async function dataOf<Data>(path: string): Promise<Data> {
  const response = await fetch(`${history}/v1/${path}`)
  const { data } = (await response.json()) as { readonly data: Data }
  return data
}

const linesOf = (text: string): string[] => text.trimEnd().split('\n')

/** What the page does with the client; `order` is what the test gives it. */
const SCRIPT = `async order => {
  const { Highwater, HighwaterError, HighwaterSignals, verifyWebhook } = await import('/index.js')
  const book = await Highwater.open(order.url)
  const { values, meta } = await book.strategy('alder').returns({ risk_pct: 0.01 })
  const error = await book.strategy('oak').stats().catch(error => error)
  const { signal } = await verifyWebhook(order.headers, order.body, order.secret)
  return {
    opened: book.version,
    days: values.length,
    modelled: meta.modelled,
    refused: error instanceof HighwaterError && [error.code, error.requestId],
    verified: [signal.signal_id, (await book.verify({ allowUnsigned: true }))[1]],
    newest: [await book.newestVersion(), await book.newestVersion()],
  }
}`

test('a page of an allowed origin reads a pinned book, learns why it is refused, and verifies a delivery', async () => {
  const modules = join(consumer, 'node_modules/highwater-client/dist')
  let service = ''
  const pages = await start(async request => {
    const { pathname } = new URL(request.url)
    const policy = `default-src 'none'; script-src 'self'; connect-src ${service}`
    if (pathname === '/')
      return new Response('', { headers: { 'content-type': 'text/html', 'content-security-policy': policy } })
    const headers = { 'content-type': 'text/javascript' }
    return new Response(await readFile(join(modules, pathname)), { headers })
  })
  const { url, requests } = await watchedService({
    settings: { ...SETTINGS, allowedOrigins: new Set([pages.url]) },
    newRequestId: () => '0123456789abcdef',
  })
  service = url
  const page = await (await openBrowser()).newPage()
  await page.goto(pages.url)
  const order = { ...JSON.parse(pushed), url, secret: SECRET }
  expect(await page.evaluate(`(${SCRIPT})(${JSON.stringify(order)})`)).toEqual({
    ...{
      opened: FIRST_VERSION,
      days: 366,
      modelled: true,
      verified: ['s4', 'signatures: nothing is signed'],
    },
    refused: ['not_found', '0123456789abcdef'],
    newest: [FIRST_VERSION, FIRST_VERSION],
  })
  const preflights = requests.filter(line => line.startsWith('204'))
  expect([requests.length > 2, preflights]).toEqual([true, []])
})
