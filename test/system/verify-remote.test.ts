// What a subscriber finds, over HTTP, at a service that hands out what was published, and at one that does not.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { versionFolder } from '#core/contract/artifacts.ts'
import { createHttpReader } from '#static-build/audit/http-reader.ts'
import { run } from '#test/cli/made-up.ts'
import { BEFORE } from '#test/static-build/hand-order.ts'
import { keyOf, NOW_MS, newSigner } from '#test/static-build/signed-store.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import { startServing } from '#test/support/history/history-process.ts'
import { publishSigned, withSignedService } from '#test/support/history/signed-service.ts'

const signer = newSigner()
const { fingerprint } = keyOf(signer)
const SERVED = `/${versionFolder(HAND_VERSION)}`

const started = withSignedService(signer, () => Date.parse(HAND_VERSION))

const verify = (...args: string[]) => verifyAt(NOW_MS, ...args)
const verifyAt = (nowMs: number, ...args: string[]) =>
  run(['verify-remote', started().proxy.url, ...args], { now: () => nowMs })

describe('a service that hands out what was published', () => {
  test('passes every check, with a warning where its key was taken on trust', async () => {
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

  test('passes without a warning under a pinned key, by file or by fingerprint', async () => {
    const file = join(started().folder, 'publisher.pem')
    await writeFile(file, signer.publicKeyPem)
    for (const pin of [
      ['--key', file],
      ['--key-id', fingerprint],
      ['--key-id', signer.keyId],
    ]) {
      expect(await verify(...pin, '--all')).toMatchObject({ code: 0, err: '' })
    }
  })

  test('is printed as one JSON document for programs', async () => {
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

  test('passes behind redirects that stay at its address', async () => {
    started().proxy.tamper(() => 'redirected')
    expect(await verify()).toMatchObject({ code: 0 })
  })
})

test('silence ends an attempt with its reason', async () => {
  started().proxy.tamper(() => 'silent')
  const reader = createHttpReader(started().proxy.url, { silenceMs: 50, wholeMs: 60_000, pausesMs: [] })
  const place = { key: '', path: '/v1/current.json', mostBytes: 1 }
  await expect(reader.read(place)).rejects.toThrow('/v1/current.json: nothing came for 0.05 s')
  const dripped = createHttpReader(started().proxy.url, { silenceMs: 60_000, wholeMs: 50, pausesMs: [] })
  await expect(dripped.read(place)).rejects.toThrow('the answer was not complete after 0.05 s')
})

test('a service that stumbles once is asked again', async () => {
  let isFirst = true
  started().proxy.tamper(path => {
    if (path !== `${SERVED}/summary` || !isFirst) return null
    isFirst = false
    return 'error 500'
  })
  expect(await verify()).toMatchObject({ code: 0 })
  expect(isFirst).toBe(false)
})

test('an unsigned service is a fault unless it is allowed', async () => {
  const stores = await publishSigned(join(started().folder, 'unsigned'), null, () => Date.parse(HAND_VERSION))
  const { url, kill, ended } = await startServing(stores)
  const at = { now: () => NOW_MS }
  const refused = await run(['verify-remote', url], at)
  const allowed = await run(['verify-remote', url, '--allow-unsigned'], at)
  expect(refused).toMatchObject({
    code: 1,
    out: expect.stringMatching(/FAILED {2}signatures .*nothing is signed/),
  })
  expect(allowed).toMatchObject({ code: 0, err: expect.stringMatching(/nothing is signed/) })
  kill('SIGTERM')
  await ended
})

describe('a wrong call exits 2 and says what was expected', () => {
  test.each([
    [['ftp://example.org'], 'expected an address such as https://data.example.org'],
    [['--version', 'yesterday'], '--version: expected an instant such as'],
    [['--version', BEFORE, '--all'], 'give one of them'],
    [['--key-id', '12ab'], '--key-id: expected the 16 digits'],
    [['--key-id', '0'.repeat(16), '--key', 'x'], 'give --key or --key-id'],
    [['--key-id', '0'.repeat(16), '--allow-unsigned'], 'give one of them'],
  ])('%j', async (args, message) => {
    const words = args[0]!.startsWith('--') ? ['http://127.0.0.1:1', ...args] : args
    const { code, err } = await run(['verify-remote', ...words])
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
  })
})
