// The page for subscribers is run as it stands: its shell blocks in order, against a service, and against one that sends altered answers.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { toCompactInstant, toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { versionFolder } from '#core/contract/artifacts.ts'
import { openDays } from '#static-build/open-days.ts'
import { openStore } from '#storage/open-store.ts'
import { SEAL_MS } from '#storage/seals/seal.ts'
import { run } from '#test/cli/made-up.ts'
import { keyOf, newSigner } from '#test/static-build/signed-store.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import { copyAll, createMemoryStores } from '#test/support/books/publish-in-memory.ts'
import { startProcess } from '#test/support/history/highwater-process.ts'
import { publishSigned, serveStores, withSignedService } from '#test/support/history/signed-service.ts'
import { blocksIn } from '#test/support/page-blocks.ts'
import { DEBIAN_PYTHON, pandasEnv } from '#test/support/pandas.ts'
import type { Exit } from '#test/support/processes.ts'
import { shared } from '#test/support/runner/shared.ts'
import { createChain, eventItem, hourOf, signalItem } from '#test/support/seals/chain.ts'
import type { Tampering } from '#test/support/servers/tampering-proxy.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/verifying.md'), 'utf8')

const blocks = (language: string) => blocksIn('docs/verifying.md', language)

const ADDRESS = 'https://data.example.org'
const SERVED = `/${versionFolder(HAND_VERSION)}`
const HOUR_MS = 3_600_000
const signer = newSigner()

/** The page asks the clock of the machine, so the entries are of this hour. */
const nowMs = Date.now()

const started = withSignedService(signer, () => nowMs)

/** The day before, and today until now: a seal an hour, with two signals and an event on the first day. */
const SEALED_FROM = toIsoDate(toEpochDay(nowMs) - 1)
const sealSigner = newSigner()
let newestSeal: string
beforeAll(async () => {
  const chain = createChain(createMemoryStores(), `${SEALED_FROM}T00:00:00Z`, { signer: sealSigner })
  const items = {
    [hourOf(SEALED_FROM, 1)]: [signalItem(1), eventItem('live', 'oak', hourOf(SEALED_FROM, 1))],
    [hourOf(SEALED_FROM, 5)]: [signalItem(2)],
  }
  await chain.sealUntil(toIsoInstant(Math.floor(nowMs / SEAL_MS) * SEAL_MS), items, HOUR_MS)
  await openDays(chain, SEALED_FROM)
  await copyAll(chain.store, await openStore(started().stores.url))
  newestSeal = chain.all.at(-1)!.digest
})

/** All blocks of the page as one shell runs them, in a folder of their own. */
async function runPage(url: string): Promise<Exit> {
  const script = blocks('sh').join('').replace(ADDRESS, url)
  expect(script).toContain(url)
  return startProcess('sh', ['-c', script], { cwd: await temporaryFolder() }).ended
}

test('the shell blocks of the page on verifying pass against what was published, and print the fingerprint of the key', async () => {
  const { code, stdout, stderr } = await runPage(started().proxy.url)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain(`${keyOf(signer).fingerprint}  -`)
  expect(stdout).toContain(`newest entry: 2, sha256 ${started().headDigest}`)
  expect(stdout).toMatch(new RegExp(`version ${toCompactInstant(HAND_VERSION)}: \\d+ files as published\n`))
  expect(stdout.endsWith(`${keyOf(sealSigner).fingerprint}  -\nSignature Verified Successfully\n`)).toBe(true)
})

/** The program of the page, in which nothing but the standard library is imported. */
async function runProgram(url: string): Promise<Exit> {
  const folder = await temporaryFolder()
  const [program = ''] = blocks('python')
  expect(program.split('\n').length - 1).toBeLessThanOrEqual(40)
  await writeFiles(folder, { 'seals.py': program })
  return startProcess('python3', ['-I', 'seals.py', url], { cwd: folder }).ended
}

test('the Python program of the page on verifying and `highwater verify-live` find the same in a chain of seals', async () => {
  const { url } = started().proxy
  const { code, stdout, stderr } = await runProgram(url)
  const found = `opened up to ${SEALED_FROM}: 2 signals and 1 events, 0 seals lost`
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toBe(`${(await verifyLive(url)).count} seals to ${newestSeal}\n${found}\n`)
  expect((await verifyLive(url)).out).toContain(`\nok      openings    ${found}`)
})

async function verifyLive(url: string) {
  const { code, out } = await run(['verify-live', url], { now: () => nowMs })
  return { code, out, count: /^ok +chain +(\d+) seals/m.exec(out)?.[1] }
}

test.each(['days', 'openings'])(
  'the Python program of the page on verifying and `highwater verify-live` both fail if one bit of v1/seals/%s is another',
  async kind => {
    const { url } = started().proxy
    started().proxy.tamper(asked => (asked.startsWith(`/v1/seals/${kind}/${SEALED_FROM}`) ? 'altered' : null))
    const { code, stderr } = await runProgram(url)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^(?:Assertion|JSONDecode|Value|Key)?\w*Error: |seal/m),
    ])
    expect((await verifyLive(url)).code).toBe(1)
  },
)

/** A signature is stored under the digest of what it signs. */
const SIGNATURES = '/v1/pointer/signatures'

test.each<[what: string, Tampering, path: string, message: string]>([
  ['a file', 'missing', `${SERVED}/summary`, 'error: 404'],
  ['the manifest', 'altered', `${SERVED}/manifest.json`, 'manifest.json is another'],
  ['the signature of the manifest', 'altered', `${SERVED}/manifest.json.sig`, 'is not signed with this key'],
  [
    'the signature of the manifest',
    'missing',
    `${SERVED}/manifest.json.sig`,
    'manifest.json has no signature',
  ],
  ['an older entry', 'altered', '/v1/pointer/0000000001.json', '0000000002.json does not continue'],
  ['an older entry', 'missing', '/v1/pointer/0000000001.json', 'there is no first entry'],
  ['the newest entry', 'altered', '/v1/pointer/0000000002.json', '0000000002.json'],
  ['the newest entry', 'missing', '/v1/pointer/0000000002.json', 'current.json names a later one'],
  ['the signature of the newest entry', 'altered', SIGNATURES, '0000000002.json is not signed'],
  ['the signature of the newest entry', 'missing', SIGNATURES, '0000000002.json has no signature'],
  ['the key', 'missing', '/.well-known/highwater-keys.json', 'no key is published'],
])('the shell blocks of the page on verifying fail if %s is %s', async (_what, tampering, path, message) => {
  const whole = path === SIGNATURES ? `${SIGNATURES}/${started().headDigest}.sig` : path
  started().proxy.tamper(asked => (asked === whole ? tampering : null))
  const { code, stderr } = await runPage(started().proxy.url)
  expect([code === 0, stderr]).toEqual([false, expect.stringContaining(message)])
})

test('the shell blocks of the page on verifying fail, and name each, if files, changes or checksums were altered', async () => {
  const altered = ['summary', 'changes', 'SHA256SUMS'].map(name => `${SERVED}/${name}`)
  started().proxy.tamper(asked => (altered.includes(asked) ? 'altered' : null))
  const { code, stdout, stderr } = await runPage(started().proxy.url)
  expect([code, stderr]).toEqual([1, expect.stringContaining('a file is not the one that was published')])
  for (const name of ['changes.json', 'SHA256SUMS', 'summary.json'])
    expect(stdout).toContain(`${name}: FAILED\n`)
})

test('the shell blocks of the page on verifying fail if the newest entry expired', async () => {
  const stores = await publishSigned(signer, () => Date.parse(HAND_VERSION))
  const { code, stderr } = await runPage(await serveStores(stores))
  expect([code, stderr]).toEqual([1, 'FAILED: 0000000002.json expired at 2024-06-03T00:15:00Z\n'])
})

test('`highwater verify-remote` prints the steps that the page on verifying shows, in their order', async () => {
  const stepsIn = (text: string) =>
    [...text.matchAll(/^(ok|FAILED) +(\w+)/gm)].map(match => `${match[1]} ${match[2]}`)
  const { code, out } = await run(['verify-remote', started().proxy.url], { now: () => nowMs + HOUR_MS })
  expect(code).toBe(0)
  const shown = stepsIn(blocks('console')[0]!)
  expect(shown).toHaveLength(7)
  expect(stepsIn(out)).toEqual(shown.toSpliced(2, 0, 'ok clock')) // these versions have names of a past time
})

const BLOCK = /^(\S.*?) +(?:\d+ strateg|the book)/gm

test.skipIf(!existsSync(DEBIAN_PYTHON))(
  'the command that the page on verifying shows recomputes the figures, block by block',
  async () => {
    const shown = blocks('console')[1]!
    const script = /^\$ python3 (\S+) http:\S+$/m.exec(shown)![1]!
    const args = [join(import.meta.dirname, '../..', script), (await shared('history')).url]
    const { code, stdout, stderr } = await startProcess(DEBIAN_PYTHON, args, { env: await pandasEnv() }).ended
    const namesIn = (text: string) => [...text.matchAll(BLOCK)].map(match => match[1])
    expect([code, stderr]).toEqual([0, ''])
    expect(namesIn(stdout)).toEqual(namesIn(shown))
    expect(namesIn(stdout).length).toBeGreaterThan(20)
    expect(
      stdout
        .split('\n')
        .filter(line => line !== '' && !line.match(BLOCK))
        .join('\n'),
    ).toMatch(/^(not recomputable: .*\n?)+$/)
  },
)

test('every option that the page on verifying names is one of `highwater verify-remote` or `verify-live`', async () => {
  const out = (await Promise.all(['verify-remote', 'verify-live'].map(name => run([name, '--help']))))
    .map(each => each.out)
    .join()
  const options = new Set([...PAGE.matchAll(/`(--[a-z-]+)/g)].map(match => match[1]!))
  expect(options.size).toBeGreaterThan(4)
  for (const option of options) expect(out).toContain(option)
})
