// `highwater doctor`: nothing is wrong with a published store, and each fault is found with its fix.
import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import { pointerKey } from '#core/contract/pointer.ts'
import { sealKey } from '#core/contract/seals.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { HAND_VERSION } from '../support/books/hand-snapshot.ts'
import type { Stores } from '../support/books/publish-book.ts'
import { publishSigned } from '../support/history/signed-service.ts'
import { listenOn } from '../support/servers/own-port.ts'
import { startS3Without } from '../support/servers/s3-without.ts'
import { copyStores } from '../support/stores/stores.ts'
import { run } from './made-up.ts'

/** A day after the version was published. */
const NOW_MS = Date.parse('2024-06-02T06:00:00Z')

let published: Stores
beforeAll(async () => {
  published = await publishSigned(null, () => Date.parse(HAND_VERSION))
})

let stores: Stores
let dataFolder: string
let nowMs: number
beforeEach(async () => {
  nowMs = NOW_MS
  stores = await copyStores(published)
  dataFolder = await temporaryFolder()
})

type Finding = { check: string; state: string; says: string; fix: string | null }

/** Runs the command with ports that are free. */
async function doctor(env: NodeJS.ProcessEnv = {}, ...args: readonly string[]) {
  const ports = { HISTORY_PORT: '0', SIGNALS_PORT: '0', OPERATOR_PORT: '0', ADMIN_PORT: '0' }
  const { url, privateUrl } = stores
  const exit = await run(['doctor', '--json', ...args], {
    now: () => nowMs,
    cwd: dataFolder,
    env: { ...ports, STORE_URL: url, PRIVATE_STORE_URL: privateUrl, DATA_FOLDER: dataFolder, ...env },
  })
  const { findings, exit_code } = JSON.parse(exit.out) as { findings: Finding[]; exit_code: number }
  expect(exit_code).toBe(exit.code)
  const of = (check: string) => findings.find(each => each.check === check)!
  return { ...exit, findings, of }
}

const inStore = (path: string) => join(fileURLToPath(stores.url), path)

test('doctor ends with 0 if nothing is wrong, and changes nothing in the stores', async () => {
  const before = await readdir(fileURLToPath(stores.url), { recursive: true })
  const { code, findings } = await doctor()
  expect(findings.filter(({ state }) => state !== 'ok' && state !== 'skipped')).toEqual([])
  expect(code).toBe(0)
  expect(await readdir(fileURLToPath(stores.url), { recursive: true })).toEqual(before)
})

test('doctor prints all settings for people, and no secret', async () => {
  const token = 'a-token-of-an-operator-that-nobody-else-may-see'
  const { url, privateUrl } = stores
  const env = { STORE_URL: url, PRIVATE_STORE_URL: privateUrl, OPERATOR_TOKEN: token, HISTORY_PORT: '0' }
  const { out } = await run(['doctor'], { now: () => NOW_MS, env, cwd: dataFolder })
  expect(out).toContain('ok        public store')
  expect(out).toMatch(/OPERATOR_TOKEN +\*\*\* {2}\(environment\)/)
  expect(out).toMatch(/LOG_LEVEL +info\n/)
  expect(out).not.toContain(token)
})

test('doctor --read-only writes nothing to the stores', async () => {
  const { of } = await doctor({}, '--read-only')
  expect(of('public store').says).toMatch(/can be read$/)
})

test('doctor reports refused settings as the only finding', async () => {
  const { code, findings } = await doctor({ HISTORY_PORT: 'many' })
  expect(code).toBe(2)
  expect(findings).toMatchObject([{ check: 'settings', state: 'problem' }])
  expect(findings[0]!.says).toContain('HISTORY_PORT')
})

test('doctor reports a store that cannot be read once, with its fix, and skips what is in it', async () => {
  await rm(fileURLToPath(stores.url), { recursive: true })
  await writeFile(fileURLToPath(stores.url), '')
  const { findings, of } = await doctor()
  expect(of('public store')).toMatchObject({
    says: expect.stringContaining('ENOTDIR: not a directory'),
    fix: expect.stringContaining('a file is where a folder should be'),
  })
  expect(findings.filter(({ state }) => state === 'problem').map(({ check }) => check)).toEqual([
    'public store',
  ])
  expect(of('clock')).toMatchObject({ state: 'skipped', says: 'the public store cannot be read' })
})

test('doctor reports a settings file with a secret that others can read', async () => {
  const path = join(dataFolder, 'highwater.yaml')
  await writeFile(path, `SECRET_KEY: k1:${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o644 })
  expect((await doctor()).of('settings')).toMatchObject({
    state: 'problem',
    fix: expect.stringContaining('chmod 600'),
  })
  await chmod(path, 0o600)
  expect((await doctor()).of('settings')).toMatchObject({ state: 'ok' })
})

const passDays = (days: number): void => {
  nowMs += days * 86_400_000
}

const version = toCompactInstant(HAND_VERSION)

async function refusedCertificate() {
  const [key, cert] = [join(dataFolder, 'key.pem'), join(dataFolder, 'cert.pem')]
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await promisify(execFile)('openssl', [...args, '-subj', '/CN=localhost', '-keyout', key, '-out', cert])
  const server = createTlsServer({ key: await readFile(key), cert: await readFile(cert) })
  return { PUBLIC_BASE_URL: `https://127.0.0.1:${await listenOn(server)}` }
}

const noStores = async () => ({ STORE_URL: `${stores.url}.empty`, PRIVATE_STORE_URL: `${stores.url}.none` })

async function plainServer() {
  const plain = createHttpServer((_, response) => response.end())
  return { PUBLIC_BASE_URL: `https://127.0.0.1:${await listenOn(plain)}` }
}

async function failNights() {
  await mkdir(join(fileURLToPath(stores.privateUrl), 'nights'))
  const state = { since: '2024-06-01T01:00:00Z', cause: 'build: no funding' }
  await writeFile(join(fileURLToPath(stores.privateUrl), 'nights/failing.json'), JSON.stringify(state))
}

const killed = { pid: 1, host: 'x', started: '2024-06-01T00:15:00Z', heartbeat_ms: 0, released: false }

/** What is done, the finding with its check and its state, and the variables that it needs, if any. */
const FAULTS = casesOf<[string, RegExp, (() => Promise<NodeJS.ProcessEnv>) | (() => Promise<void>)]>`
a log that expired -> ${/^warning of pointer log: .*highwater refresh/} -> ${async () => passDays(400)}
a store that does not exist yet -> ${/^warning of public store: .*does not exist yet; publish the first version: `highwater build/} -> ${noStores}
a store without a version -> ${/^warning of pointer log: nothing is published; /} -> ${noStores}
stores that overlap -> ${/^problem of stores apart: .*overlap/} -> ${async () => ({ PRIVATE_STORE_URL: `${stores.url}/private` })}
an entry of the log that was altered -> ${/^problem of pointer log: .*pointer/} -> ${() => writeFile(inStore(pointerKey(1)), '{}')}
a manifest that is gone -> ${/^problem of formats: .*is missing/} -> ${() => rm(inStore(`v1/snapshots/${version}/manifest.json`))}
an nginx that names another version -> ${/^warning of nginx: .*does not name/} -> ${() => writeFile(inStore('nginx/served.conf'), 'set $version 20200101T000000Z;\n')}
a signing key that cannot be read -> ${/^problem of signing key: .*cannot read the signing key/} -> ${async () => ({ SIGNING_KEY_FILE: join(dataFolder, 'none.pem') })}
a signing key that this user may not read -> ${/^problem of signing key: .*\(EISDIR\); name a file that the user/} -> ${async () => ({ SIGNING_KEY_FILE: dataFolder })}
nights that fail -> ${/^problem of last night: nights have failed since 2024-06-01T01:00:00Z: build: no funding; see the log/} -> ${failNights}
a night that was killed -> ${/^problem of last night: the night of 2024-06-01T00:15:00Z was killed; see its log/} -> ${() => writeFiles(fileURLToPath(stores.url), { 'lock/night/1': JSON.stringify(killed) })}
a generated token that others can read -> ${/^problem of secrets: .*can be read by other users/} -> ${() => writeFile(join(dataFolder, 'operator-token'), 'x'.repeat(43), { mode: 0o644 })}
an address for other machines without secrets -> ${/^warning of secrets: .*OPERATOR_TOKEN and SECRET_KEY and SEAL_SECRET and SEAL_KEY_FILE/} -> ${async () => ({ HOST: '0.0.0.0' })}
a key of seals that is not there -> ${/^problem of secrets: there is no .*none.pem; set SEAL_KEY_FILE/} -> ${async () => ({ HOST: '0.0.0.0', SEAL_KEY_FILE: join(dataFolder, 'none.pem') })}
a port that another program has -> ${/^problem of ports: .*another program has port/} -> ${async () => ({ HISTORY_PORT: String(await listenOn(createServer(socket => socket.destroy()))) })}
a certificate that clients refuse -> ${/^problem of certificates: .*SELF_SIGNED/} -> ${refusedCertificate}
a host that this machine does not have -> ${/^problem of ports: .*cannot listen on 192\.0\.2\.1:\d+ .*set HOST to an address of this machine/} -> ${async () => ({ HOST: '192.0.2.1', HISTORY_PORT: String(await listenOn(createServer())) })}
a public address that answers without TLS -> ${/^problem of certificates: .*no TLS there/} -> ${plainServer}
sealed signals of a book without an embargo -> ${/^warning of openings: the embargo is 0: .*embargo_days .*SEALS=off/} -> ${() => writeFiles(fileURLToPath(stores.url), { [sealKey(1)]: '' })}
a public address at which nothing listens -> ${/^problem of certificates: .*cannot be reached/} -> ${async () => ({ PUBLIC_BASE_URL: 'https://127.0.0.1:9' })}
a Redis that does not answer -> ${/^problem of redis: .*Redis cannot be reached \(connect ECONNREFUSED.*REDIS_URL/} -> ${async () => ({ REDIS_URL: 'redis://127.0.0.1:9' })}`

test.each(FAULTS)('doctor finds %s and names a fix', async (_, message, fault) => {
  const { code, findings } = await doctor((await fault()) ?? {})
  const textOf = ({ check, state, says, fix }: Finding) => `${state} of ${check}: ${says}; ${fix}`
  expect(findings.map(textOf)).toContainEqual(expect.stringMatching(message))
  const { state, fix } = findings.find(each => message.test(textOf(each)))!
  expect(fix).toMatch(/\w/)
  expect(code).toBe(state === 'problem' ? 2 : 1 + Number(code === 2))
})

test('doctor reports buckets in which a key can be created twice, with the fix', async () => {
  const { env } = await startS3Without('ignored')
  const { code, of } = await doctor({
    ...env,
    STORE_URL: 's3://bucket/store',
    PRIVATE_STORE_URL: 's3://bucket/hidden',
  })
  for (const [check, path] of Object.entries({ 'public store': 'store', 'private store': 'hidden' }))
    expect(of(check)).toMatchObject({
      state: 'problem',
      says: expect.stringContaining(`s3://bucket/${path} let the key lock/probe be created twice`),
      fix: expect.stringContaining('use a service with conditional writes'),
    })
  expect(code).toBe(2)
})

test('doctor reports a clock that is before the newest entry of the log, and nothing that follows from it', async () => {
  passDays(-400)
  const { code, of, findings } = await doctor()
  expect(of('clock')).toMatchObject({ state: 'problem' })
  expect(findings.filter(({ state }) => state !== 'ok' && state !== 'skipped')).toHaveLength(1)
  expect(code).toBe(2)
})

test.each([
  ['that failed after it published', 'failed', '2024-06-02T01:00:00Z', 'problem', []],
  ['of days ago', 'done', '2024-05-30T01:00:00Z', 'warning', []],
  ['of today', 'done', '2024-06-02T01:00:00Z', 'ok', []],
  ['whose book lacks bars', 'done', '2024-06-02T01:00:00Z', 'warning', ['bars/X/4h.csv lacks 3 bars']],
])('doctor judges a night %s as %s', async (_, outcome, ended_utc, state, missing_bars) => {
  const path = join(fileURLToPath(stores.privateUrl), version, 'night.json')
  const summary = { missing_bars }
  await writeFile(path, JSON.stringify({ outcome, started_utc: ended_utc, ended_utc, summary }))
  const says = expect.stringContaining(missing_bars.join())
  expect((await doctor()).of('last night')).toMatchObject({ state, says })
})

test('doctor finds a damaged file of the served version within as many days as it has samples, and names verify-store', async () => {
  const files = await readdir(inStore('v1/snapshots'), { recursive: true })
  await writeFile(inStore(`v1/snapshots/${files.find(name => name.endsWith('.csv'))}`), 'damaged')
  const look = async () => (await doctor()).of('served files')
  let found = await look()
  for (let day = 1; day < 30 && found.state !== 'problem'; day++) {
    passDays(1)
    found = await look()
  }
  expect(found).toMatchObject({
    state: 'problem',
    says: expect.stringContaining('is altered'),
    fix: expect.stringContaining('verify-store'),
  })
})

test('doctor reports a file of the own Redis that belongs to another user', async () => {
  if (process.getuid?.() !== 0) return // nobody else can give files away
  await mkdir(join(dataFolder, 'redis'))
  await chown(join(dataFolder, 'redis'), 4711, 4711)
  expect((await doctor()).of('redis')).toMatchObject({
    state: 'problem',
    fix: expect.stringContaining('chown -R --reference='),
  })
})
