// Time stamps of the entries of the log, by an authority that the test runs itself.
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { runShell } from '#cli/outside/shell.ts'
import { anchorKey } from '#core/contract/pointer.ts'
import { readLog } from '#storage/pointer-log.ts'
import { serveStores } from '#test/support/history/signed-service.ts'
import { type Authority, openAuthority } from '#test/support/servers/time-stamp-authority.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { run } from '../made-up.ts'
import { openBook } from '../own-book.ts'

let authority: Authority
beforeAll(async () => {
  authority = await openAuthority()
})

const FIRST = '2024-01-09T00:15:00Z'
const SECOND = '2024-01-10T00:15:00Z'

/** A book; commands run at the time of the machine, as the authority does. */
async function openAnchored() {
  const { folder, stores, store, onStore } = await openBook()
  const command = (ANCHOR_COMMAND: string, args: readonly string[]) =>
    onStore(args, { env: { ANCHOR_COMMAND, DATA_FOLDER: folder }, now: Date.now })
  const build = (anchor: string, version: string) => {
    const asOf = version === FIRST ? '2024-01-08' : '2024-01-09'
    return command(anchor, ['build', '--book', 'book', '--as-of', asOf, '--version', version])
  }
  return { stores, store, build, command }
}

test('each entry is time-stamped by the command of the page, and both verifiers check it', async () => {
  const anchor = await authority.start()
  const { stores, store, build, command } = await openAnchored()
  expect((await build(anchor, FIRST)).err).not.toContain('warning')
  expect(await build(anchor, SECOND)).toMatchObject({ code: 0 })
  expect((await build(anchor, SECOND)).code).toBe(0)

  const url = await serveStores(stores)
  const now = { now: () => Date.now() }
  for (const verify of [
    (ca: string) => command('', ['verify-store', '--tsa-ca', join(authority.folder, ca)]),
    (ca: string) =>
      run(['verify-remote', url, '--allow-unsigned', '--tsa-ca', join(authority.folder, ca)], now),
  ]) {
    const trusted = await verify('ca.pem')
    expect(trusted.code).toBe(0)
    expect(trusted.out).toContain('2 of 2 entries are time-stamped by an authority that is trusted here\n')
    expect(trusted.err).toMatch(/note: entry 1 of \S+: time-stamped by Hand Time Stamps at \S+Z\n/)
    const other = await verify('other.pem')
    expect(other.code).toBe(1)
    expect(other.out).toMatch(/anchors\/[0-9a-f]{64} is no time stamp of entry 1 by that authority: .*/)
  }
  const [first, second] = await readLog(store)
  await store.replace(anchorKey(first!.sha256), (await store.read(anchorKey(second!.sha256)))!, {
    content_type: 'x',
  })
  const exchanged = await command('', ['verify-store', '--tsa-ca', join(authority.folder, 'ca.pem')])
  expect([exchanged.code, exchanged.out]).toEqual([1, expect.stringContaining('is no time stamp of entry 1')])
})

test('a command for time stamps that fails, prints nothing or stamps another digest is a warning, and the next run catches up', async () => {
  const { stores, store, build, command } = await openAnchored()
  const other = `openssl ts -query -digest ${'ab'.repeat(32)} -sha256 -cert -out ${join(authority.folder, 'stray')} && cd ${authority.folder} &&
    openssl ts -reply -config tsa.cnf -queryfile stray`
  const failed = await build('exit 3', FIRST)
  expect(failed.code).toBe(0)
  expect(failed.err).toContain(
    'warning: ANCHOR_COMMAND ended with 3; entries of the log without a time stamp: 1; the next run asks again\n',
  )
  expect((await command('true', ['refresh'])).err).toContain(
    'ANCHOR_COMMAND printed 0 bytes, no proof; entries of the log without a time stamp: 2',
  )
  expect((await command(other, ['refresh'])).err).toContain(
    'printed a reply without a time stamp of the digest and the certificate of its authority; entries of the log without a time stamp: 3',
  )
  expect(await store.list(anchorKey(''))).toEqual([])
  const stamps = async (ANCHOR_COMMAND: string) => {
    const env = { ANCHOR_COMMAND, STORE_URL: stores.url, DATA_FOLDER: await temporaryFolder() }
    const { findings } = JSON.parse((await run(['doctor', '--json', '--read-only'], { env })).out)
    return findings.find(({ check }: { check: string }) => check === 'time stamps')
  }
  expect(await stamps('')).toMatchObject({ state: 'skipped' })
  expect(await stamps('true')).toMatchObject({
    state: 'warning',
    says: '3 of 3 entries of the log have no time stamp',
  })
  expect((await command(await authority.start(), ['refresh'])).err).toBe('')
  expect(await store.list(anchorKey(''))).toHaveLength(4)
  expect(await stamps('')).toMatchObject({
    state: 'ok',
    says: '0 of 4 entries of the log have no time stamp',
  })
})

test('a command that hangs is ended with everything that it started', async () => {
  const hanging = runShell('sleep 60 & sleep 60', { env: {}, timeoutMs: 50 })
  await expect(hanging).rejects.toThrow('was ended after 0.05 s')
})
