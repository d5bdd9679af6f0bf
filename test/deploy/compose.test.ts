// The roles of the compose file, by the same entry commands, as a user that is not root.
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { run } from '../cli/made-up.ts'
import { startProcess } from '../support/history/highwater-process.ts'
import type { Running } from '../support/processes.ts'
import { ownPort } from '../support/servers/own-port.ts'
import { until } from '../support/signals/delivery.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { COMPOSE } from './compose-file.ts'

const ROOT = join(import.meta.dirname, '../..')
const isRoot = process.getuid?.() === 0
/** As in the image. */
const USER = 1000
const AS_USER = ['--reuid', String(USER), '--regid', String(USER), '--clear-groups', '--'] as const
/** Root's tests can become another user, if that one can read this project. */
const isUser = isRoot && spawnSync('setpriv', [...AS_USER, 'test', '-x', process.execPath]).status === 0

/** The .env file of the operator. */
const OWN: Record<string, string> = {
  DATA_NAME: 'data.example.org',
  SIGNALS_NAME: 'signals.example.org',
  OPERATOR_TOKEN: 'operator-token-of-a-test-0123456789abcdef',
  SECRET_KEY: `k1:${Buffer.alloc(32).toString('base64')}`,
  SEAL_SECRET: 's'.repeat(64),
}

let folder: string
let here: (text: string) => string
let base: Record<string, string>
const port = { history: 0, signals: 0, operator: 0, admin: 0, redis: 0, https: 0, http: 0 }

/** The roles that serve, in the order in which they end. */
const SERVING = ['nginx', 'signals', 'history', 'redis']
const running = new Map<string, Running>()

const REDIS_PACKAGES = ['redis-server', 'redis-tools']
const NGINX_PACKAGES = ['nginx', 'libnginx-mod-http-brotli-static', 'varnish', 'varnish-modules']

const writeProgram = (name: string, line: string): void => {
  const path = join(folder, 'bin', name)
  writeFileSync(path, `#!/bin/sh\n${line}\n`)
  chmodSync(path, 0o755)
}

beforeAll(async () => {
  folder = await temporaryFolder()
  for (const name of Object.keys(port) as (keyof typeof port)[]) port[name] = await ownPort()
  for (const name of ['bin', 'data', 'redis', 'tls', 'acme', 'tmp']) mkdirSync(join(folder, name))
  expect(await run(['init', join(folder, 'book')], { now: () => Date.now() })).toMatchObject({ code: 0 })
  symlinkSync(process.execPath, join(folder, 'bin/node'))
  writeProgram('highwater', `exec node ${ROOT}/cli/launcher.mjs "$@"`)
  const unpack = join(ROOT, 'deploy/servers/unpack-packages.sh')
  const libraries = `usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`
  const unpacked = (name: string, packages: readonly string[], program: string): string => {
    const target = join(ROOT, '.servers', name)
    execFileSync(unpack, [target, ...packages], { stdio: 'ignore' })
    return `LD_LIBRARY_PATH=${target}/${libraries} exec ${target}/${program} "$@"`
  }
  writeProgram('redis-server', unpacked('redis', REDIS_PACKAGES, 'usr/bin/redis-server'))
  writeProgram('nginx', unpacked('cdn', NGINX_PACKAGES, 'usr/sbin/nginx'))
  execFileSync('chmod', ['-R', 'a+rX', folder])
  if (isUser)
    execFileSync('chown', [
      '-R',
      `${USER}:${USER}`,
      ...['book', 'data', 'redis', 'tls', 'acme', 'tmp'].map(name => join(folder, name)),
    ])
  if (isUser) chownSync(folder, USER, USER)
  const replaced: readonly (readonly [string, string])[] = [
    ['/opt/highwater/node_modules/highwater', ROOT],
    ['/var/lib/redis-data', `${folder}/redis`],
    ['/var/lib/highwater/seal-key.pem', `${folder}/data/seal-key.pem`],
    ['/var/lib/tls', `${folder}/tls`],
    ['/var/lib/acme', `${folder}/acme`],
    ['/tmp/nginx', `${folder}/tmp/nginx`],
    ['redis:6379', `127.0.0.1:${port.redis}`],
    ['history:8080', `127.0.0.1:${port.history}`],
    ['signals:8081', `127.0.0.1:${port.signals}`],
    ['signals:8082', `127.0.0.1:${port.operator}`],
    ['0.0.0.0:8443', `127.0.0.1:${port.https}`],
    ['0.0.0.0:8088', `127.0.0.1:${port.http}`],
  ]
  here = text => {
    const named = text.replaceAll(
      /\$\{(\w+)(?::[-?]([^}]*))?\}/g,
      (_, name: string, fallback = '') => OWN[name] ?? fallback,
    )
    if (named === '/book') return join(folder, 'book')
    if (named === '0.0.0.0') return '127.0.0.1'
    return replaced.reduce((all, [theirs, ours]) => all.replaceAll(theirs, ours), named)
  }
  base = {
    PATH: `${folder}/bin:${process.env.PATH}`,
    HOME: folder,
    DATA_FOLDER: join(folder, 'data'),
    NODE_COMPILE_CACHE: join(folder, 'tmp/compiled'),
    NGINX_PROGRAM: join(folder, 'bin/nginx'),
    NGINX_MODULES: join(ROOT, '.servers/cdn/usr/lib/nginx/modules'),
    HISTORY_PORT: String(port.history),
    SIGNALS_PORT: String(port.signals),
    OPERATOR_PORT: String(port.operator),
    BUILD_EFFORT: 'quick',
  }
  running.set('redis', start('redis'))
  await running.get('redis')!.prints(/Ready to accept connections/)
  const first = await start('nightly', ['nightly', '--book', '/book']).ended
  expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('night done: ')])
  const key = start('nightly', ['keys', 'new', '/var/lib/highwater/seal-key.pem'])
  expect((await key.ended).code).toBe(0)
  for (const role of ['history', 'signals', 'nginx']) running.set(role, start(role))
})

/** Starts a role as Docker would, with another command if one is given. */
function start(role: string, command?: readonly string[]): Running {
  const service = COMPOSE.services[role]!
  const words = [...service.entrypoint, ...(command ?? service.command)].map(here)
  if (role === 'redis') words.push('--port', String(port.redis))
  const environment = Object.entries(service.environment).map(([name, value]) => [name, here(value)])
  const own = role === 'history' ? { ADMIN_PORT: String(port.admin) } : {}
  const env = { ...base, ...Object.fromEntries(environment), ...own }
  const [program, args] = isUser ? ['setpriv', [...AS_USER, ...words]] : [words[0]!, words.slice(1)]
  return startProcess(program, args, { env, cwd: join(folder, 'data'), hungMs: 280_000 })
}

async function get(name: string, path: string): Promise<number> {
  const to = { host: '127.0.0.1', port: port.https, servername: name, rejectUnauthorized: false }
  const sent = request({ ...to, path, headers: { host: name } }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return answer.resume().statusCode ?? 0
}

const isAnswered = (what: Promise<unknown>): Promise<boolean> =>
  what.then(
    () => true,
    () => false,
  )

test('the services of the compose file answer under their names through nginx with HTTPS', async () => {
  await running.get('history')!.prints(/^history service on /m)
  await running.get('signals')!.prints(/^operator interface on /m)
  await until(() => isAnswered(get('data.example.org', '/healthz')))
  expect(await get('data.example.org', '/v1/strategies/oak')).toBe(200)
  expect(await get('data.example.org', '/v1/strategies/oak/stats?risk_pct=0.01')).toBe(200)
  expect(await get('signals.example.org', '/v1/whoami')).toBe(401)
  const redirected = await fetch(`http://127.0.0.1:${port.http}/v1/strategies`, { redirect: 'manual' })
  expect(redirected.status).toBe(301)
  for (const [at, metric] of [
    [port.admin, 'highwater_history_dataset_age_seconds'],
    [port.operator, 'highwater_redis_up 1'],
  ])
    expect(await (await fetch(`http://127.0.0.1:${at}/metrics`)).text()).toContain(metric)
})

test.each([
  ['nightly', /the next night begins at \S+T00:15:00Z/],
  ['live', /oak follow/],
])('the role %s of the compose file waits for its time, and ends when it is asked to', async (role, line) => {
  const started = start(role)
  await started.prints(line)
  started.kill('SIGTERM')
  expect(await started.ended).toMatchObject({ code: 0 })
})

test.skipIf(!isUser)(
  'no role of the compose file runs as root (skipped if the tests cannot become another user)',
  () => {
    for (const [role, { pid }] of running) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      expect([role, /^Uid:\t(\d+)/m.exec(status)?.[1]]).toEqual([role, String(USER)])
    }
  },
)

test('each role of the compose file that serves ends with 0 when it is asked to', async () => {
  for (const role of SERVING) {
    running.get(role)!.kill('SIGTERM')
    expect([role, (await running.get(role)!.ended).code]).toEqual([role, 0])
  }
})
