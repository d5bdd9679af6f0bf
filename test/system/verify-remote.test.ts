// What a subscriber finds, over HTTP, at a service that hands out what was published, and at one that does not.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { versionFolder } from '#core/contract/artifacts.ts'
import { createHttpReader } from '#static-build/audit/reader.ts'
import { run } from '#test/cli/made-up.ts'
import { BEFORE } from '#test/static-build/hand-order.ts'
import { keyOf, NOW_MS, newSigner } from '#test/static-build/signed-store.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import { TINY_VERSION } from '#test/support/books/publish-book.ts'
import { withSignedService } from '#test/support/history/signed-service.ts'
import { shared } from '#test/support/runner/shared.ts'
import type { Tampering } from '#test/support/servers/tampering-proxy.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const signer = newSigner()
const { fingerprint } = keyOf(signer)
const SERVED = `/${versionFolder(HAND_VERSION)}`

const started = withSignedService(signer, () => Date.parse(HAND_VERSION))

const verify = (...args: string[]) => verifyAt(NOW_MS, ...args)
const verifyAt = (nowMs: number, ...args: string[]) =>
  run(['verify-remote', started().proxy.url, ...args], { now: () => nowMs })

test('verify-remote passes a service that hands out what was published, with a warning where its key was taken on trust', async () => {
  const { code, out, err } = await verify()
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(
      /^ok {6}keys .*\nok {6}log .*\nok {6}head .*\nok {6}signatures .*\nok {6}manifest .*\nok {6}documents .*\nok {6}files .*\n$/,
    ),
  ])
  expect(err).toContain('WARNING: the key comes from the service itself')
  expect(err).toContain(`--key-id ${fingerprint}`)
})

test('verify-remote passes without a warning under a pinned key, by file or by fingerprint', async () => {
  const file = join(await temporaryFolder(), 'publisher.pem')
  await writeFile(file, signer.publicKeyPem)
  for (const pin of [
    ['--key', file],
    ['--key-id', fingerprint],
    ['--key-id', signer.keyId],
  ]) {
    expect(await verify(...pin, '--all')).toMatchObject({ code: 0, err: '' })
  }
})

test('verify-remote --json prints one JSON document for programs', async () => {
  const { code, out } = await verify('--version', BEFORE, '--json', '--key-id', fingerprint)
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    url: started().proxy.url,
    sound: true,
    head: { seq: 2, version: HAND_VERSION, entry_sha256: started().headDigest },
    keys: [{ id: signer.keyId, fingerprint }],
    checks: expect.arrayContaining([
      expect.objectContaining({ check: 'files', version: BEFORE, faults: [] }),
    ]),
  })
})

test('verify-remote follows redirects that stay at the address of the service', async () => {
  started().proxy.tamper(() => 'redirected')
  expect(await verify()).toMatchObject({ code: 0 })
})

test('a reader of a service ends an attempt with its reason if nothing comes, or if the whole takes too long', async () => {
  started().proxy.tamper(() => 'silent')
  const reader = createHttpReader(started().proxy.url, { silenceMs: 50, wholeMs: 60_000, pausesMs: [] })
  const place = { key: '', path: '/v1/current.json', mostBytes: 1 }
  await expect(reader.read(place)).rejects.toThrow('/v1/current.json: nothing came for 0.05 s')
  const dripped = createHttpReader(started().proxy.url, { silenceMs: 60_000, wholeMs: 50, pausesMs: [] })
  await expect(dripped.read(place)).rejects.toThrow('the answer was not complete after 0.05 s')
})

test('verify-remote asks a service that stumbles once again', async () => {
  let isFirst = true
  started().proxy.tamper(path => {
    if (path !== `${SERVED}/summary` || !isFirst) return null
    isFirst = false
    return 'error 500'
  })
  expect(await verify()).toMatchObject({ code: 0 })
  expect(isFirst).toBe(false)
})

test('verify-remote reports an unsigned service as a fault unless --allow-unsigned is given', async () => {
  const { url } = await shared('history')
  const at = { now: () => Date.parse(TINY_VERSION) }
  const refused = await run(['verify-remote', url], at)
  const allowed = await run(['verify-remote', url, '--allow-unsigned'], at)
  expect(refused).toMatchObject({
    code: 1,
    out: expect.stringMatching(/FAILED {2}signatures .*nothing is signed/),
  })
  expect(allowed).toMatchObject({ code: 0, err: expect.stringMatching(/nothing is signed/) })
})

test.each([
  [['ftp://example.org'], 'expected an address such as https://data.example.org'],
  [['--version', 'yesterday'], '--version: expected an instant such as'],
  [['--version', BEFORE, '--all'], 'give one of them'],
  [['--key-id', '12ab'], '--key-id: expected the 16 digits'],
  [['--key-id', '0'.repeat(16), '--key', 'x'], 'give --key or --key-id'],
  [['--key-id', '0'.repeat(16), '--allow-unsigned'], 'give one of them'],
])('verify-remote with the arguments %j exits with 2 and says what was expected', async (args, message) => {
  const words = args[0]!.startsWith('--') ? ['http://127.0.0.1:1', ...args] : args
  const { code, err } = await run(['verify-remote', ...words])
  expect([code, err]).toEqual([2, expect.stringContaining(message)])
})

/** Where the answers are that are spoilt on the way. */
const PATHS = {
  'a file': () => `${SERVED}/summary`,
  'the newest entry': () => '/v1/pointer/0000000002.json',
  'the keys': () => '/.well-known/highwater-keys.json',
  'the hint': () => '/v1/current.json',
} as const

/** How they are spoilt, and the fault that names it: what an answer can do to a reader. What an object can, the tests of the audit have. */
const TAMPERED: readonly [keyof typeof PATHS, Tampering, RegExp][] = [
  ['a file', 'altered', /FAILED {2}files .*\n +\S+\/summary is altered: its digest/],
  ['a file', 'truncated', /\/summary is altered: it has \d+ bytes, \d+ were published/],
  ['a file', 'endless', /\/summary: the answer is longer than \d+ bytes/],
  ['a file', 'missing', /\/summary is missing/],
  ['a file', 'error 500', /\/summary: the service answered 500/],
  ['a file', 'cut', /cannot read http:\S+\/summary: /],
  ['a file', 'redirected away', /\/summary: it redirects to another origin, http:\/\/localhost:1:/],
  ['the newest entry', 'missing', /0000000002\.json is missing, though the log is said to reach entry 2/],
  ['the keys', 'missing', /is signed, and no public key is there/],
  ['the hint', 'error 500', /current\.json: the service answered 500/],
]

test.each(TAMPERED)(
  'verify-remote exits with 1 and names the fault if the answer with %s is: %s',
  async (what, tampering, message) => {
    started().proxy.tamper(asked => (asked === PATHS[what]() ? tampering : null))
    const { code, out, err } = await verify()
    expect([code, out]).toEqual([1, expect.stringMatching(message)])
    expect(err).toMatch(/fault\(s\); do not rely on what failed/)
  },
)

test('verify-remote exits with 1 and says that it cannot read a service that is not there', async () => {
  const { code, out } = await run(['verify-remote', NOT_THERE], { now: () => NOW_MS })
  expect([code, out]).toEqual([1, expect.stringMatching(/cannot read http:\S+0000000001\.json: .*refused/i)])
})

/** An address of this machine at which no test listens. */
const NOT_THERE = 'http://127.3.2.1:18080'
