// What a subscriber finds, over HTTP, at a service that does not hand out what was published.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { versionFolder } from '#core/contract/artifacts.ts'
import { run } from '#test/cli/made-up.ts'
import { BEFORE } from '#test/static-build/hand-order.ts'
import { NOW_MS, newSigner } from '#test/static-build/signed-store.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import { withSignedService } from '#test/support/history/signed-service.ts'
import { startTamperingProxy, type Tampering } from '#test/support/servers/tampering-proxy.ts'

const signer = newSigner()
const SERVED = `/${versionFolder(HAND_VERSION)}`

const started = withSignedService(signer, () => Date.parse(HAND_VERSION))

const verify = (...args: string[]) => verifyAt(NOW_MS, ...args)
const verifyAt = (nowMs: number, ...args: string[]) =>
  run(['verify-remote', started().proxy.url, ...args], { now: () => nowMs })

describe('whatever is altered on the way is found and named, and the exit code is 1', () => {
  test.each<[string, Tampering, () => string, RegExp]>([
    [
      'a file',
      'altered',
      () => `${SERVED}/summary`,
      /FAILED {2}files .*\n +\S+\/summary is altered: its digest/,
    ],
    [
      'a file',
      'truncated',
      () => `${SERVED}/summary`,
      /\/summary is altered: it has \d+ bytes, \d+ were published/,
    ],
    ['a file', 'endless', () => `${SERVED}/summary`, /\/summary: the answer is longer than \d+ bytes/],
    ['a file', 'missing', () => `${SERVED}/summary`, /\/summary is missing/],
    ['a file', 'error 500', () => `${SERVED}/summary`, /\/summary: the service answered 500/],
    ['a file', 'cut', () => `${SERVED}/summary`, /cannot read http:\S+\/summary: /],
    [
      'a file',
      'redirected away',
      () => `${SERVED}/summary`,
      /\/summary: it redirects to another origin, http:\/\/localhost:1:/,
    ],
    [
      'the changes',
      'altered',
      () => `${SERVED}/changes`,
      /FAILED {2}documents .*\n +\S+\/changes is altered/,
    ],
    ['the checksums', 'altered', () => `${SERVED}/SHA256SUMS`, /SHA256SUMS is altered/],
    [
      'the manifest',
      'altered',
      () => `${SERVED}/manifest.json`,
      /manifest\.json is not the one that was published/,
    ],
    ['the manifest', 'missing', () => `${SERVED}/manifest.json`, /manifest\.json is missing/],
    [
      'its signature',
      'altered',
      () => `${SERVED}/manifest.json.sig`,
      /manifest\.json has a signature that is not of its bytes/,
    ],
    ['its signature', 'missing', () => `${SERVED}/manifest.json.sig`, /manifest\.json has no signature/],
    [
      'the newest entry',
      'altered',
      () => '/v1/pointer/0000000002.json',
      /0000000002\.json (is no entry|has no signature)/,
    ],
    [
      'the newest entry',
      'missing',
      () => '/v1/pointer/0000000002.json',
      /0000000002\.json is missing, though the log is said to reach entry 2/,
    ],
    [
      'an older entry',
      'missing',
      () => '/v1/pointer/0000000001.json',
      /FAILED {2}log .*\n +\S+0000000001\.json is missing/,
    ],
    [
      'a signature',
      'altered',
      () => `/v1/pointer/signatures/${started().headDigest}.sig`,
      /0000000002\.json has a signature that is not of its bytes/,
    ],
    [
      'a signature',
      'missing',
      () => `/v1/pointer/signatures/${started().headDigest}.sig`,
      /0000000002\.json has no signature/,
    ],
    [
      'the keys',
      'missing',
      () => '/.well-known/highwater-keys.json',
      /is signed, and no public key is there/,
    ],
    ['the hint', 'error 500', () => '/v1/current.json', /current\.json: the service answered 500/],
  ])('%s: %s', async (_what, tampering, path, message) => {
    started().proxy.tamper(asked => (asked === path() ? tampering : null))
    const { code, out, err } = await verify()
    expect([code, out]).toEqual([1, expect.stringMatching(message)])
    expect(err).toMatch(/fault\(s\); do not rely on what failed/)
  })

  test('another key than the pinned one', async () => {
    const file = join(started().folder, 'other.pem')
    await writeFile(file, newSigner().publicKeyPem)
    const { code, out } = await verify('--key', file)
    expect([code, out]).toEqual([
      1,
      expect.stringContaining(`is signed with the key ${signer.keyId}, which is none`),
    ])
  })

  test('an expired entry, and a clock that was set back', async () => {
    const [late, early] = [await verifyAt(NOW_MS + 365 * 86_400_000), await verifyAt(Date.parse(BEFORE))]
    expect(late).toMatchObject({
      code: 1,
      out: expect.stringMatching(/FAILED {2}head .*\n.* expired at 2024-06-03/),
    })
    expect(early).toMatchObject({
      code: 1,
      out: expect.stringMatching(/later than the clock of this machine/),
    })
  })

  test('a service that is not there', async () => {
    const gone = await startTamperingProxy(started().proxy.url)
    gone.close()
    const { code, out } = await run(['verify-remote', gone.url], { now: () => NOW_MS })
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/cannot read http:\S+0000000001\.json: .*refused/i),
    ])
  })
})
