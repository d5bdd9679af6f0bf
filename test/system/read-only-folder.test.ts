// A folder that cannot be written to: every command that writes is refused, and what only reads still works.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { LAUNCHER, startProcess } from '../support/history/highwater-process.ts'
import type { Exit } from '../support/processes.ts'
import { buildArgs, contentOf, copyStores, NEXT_VERSION } from '../support/stores/stores.ts'

/** Root writes past the modes of files, so that the folder is mounted read-only, in a namespace of its own. */
const MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'

const inReadOnly = ({ url }: Stores, args: readonly string[]): Promise<Exit> =>
  startProcess('unshare', [
    ...['--map-root-user', '--mount', 'bash', '-c', MOUNTED, fileURLToPath(url)],
    ...[process.execPath, LAUNCHER, ...args],
  ]).ended

const mayMount =
  spawnSync('unshare', ['--map-root-user', '--mount', 'bash', '-c', MOUNTED, '/tmp', 'true']).status === 0

const storeArgs = ({ url, privateUrl }: Stores) => ['--store', url, '--private-store', privateUrl]

const WRITING: readonly [string, (stores: Stores) => readonly string[]][] = [
  ['build', buildArgs],
  ['refresh', stores => ['refresh', ...storeArgs(stores)]],
  ['prune', stores => ['prune', '--yes', '--keep-days', '0', ...storeArgs(stores)]],
]

// Skipped on a machine that does not allow mounts.
describe.skipIf(!mayMount)('a read-only folder', () => {
  test.each(WRITING)('is refused by %s with the reason, and stays as it was', async (_name, args) => {
    const stores = await copyStores(inject('tinyStore'))
    const before = await contentOf(stores)
    const exit = await inReadOnly(stores, args(stores))
    expect(exit).toMatchObject({ code: 1, signal: null, stdout: '' })
    expect(exit.stderr).toMatch(/^highwater: cannot create file:\S+: EROFS: .*: .*(writ|mount)/m)
    expect(exit.stderr).not.toMatch(/^ +at /m)
    expect(await contentOf(stores)).toEqual(before)
  })

  test('is listed all the same', async () => {
    const stores = await copyStores(inject('tinyStore'))
    const exit = await inReadOnly(stores, ['versions', ...storeArgs(stores)])
    expect(exit).toMatchObject({ code: 0, stderr: '' })
    expect(exit.stdout).toContain(TINY_VERSION)
    expect(exit.stdout).not.toContain(NEXT_VERSION)
  })
})
