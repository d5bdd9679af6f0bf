import { expect, inject, test } from 'vitest'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { LAUNCHER, startProcess } from '../support/history/highwater-process.ts'
import { buildArgs, contentOf, copyStores, faultsOf, pointerOf } from '../support/stores/stores.ts'

/** The largest file that may be written, in blocks of 1024 bytes, and what it is too small for. */
const LIMITS = [
  [1, 'the snapshot', /snapshot\.\w+: EFBIG/],
  [35, 'an artifact', /v1\/snapshots\/20250225T001500Z\/export\.daily\.json: EFBIG/],
  [40, 'what describes the version', /datapackage\.json: EFBIG/],
] as const

test.each(LIMITS)(
  'a disk with %i kB left for a file, too small for %s, makes a build fail with the reason and publish nothing',
  async (blocks, _what, reason) => {
    const stores = await copyStores(inject('tinyStore'))
    const before = await contentOf(stores)
    const exit = await limited(blocks, buildArgs(stores))
    expect(exit).toMatchObject({ code: 1, signal: null, stdout: '' })
    expect(exit.stderr).toMatch(reason)
    expect(exit.stderr).toMatch(/raise it \(see ulimit -f\), and run the command again\n/)
    expect(exit.stderr).not.toMatch(/^ +at /m)
    expect(await pointerOf(stores)).toBe(TINY_VERSION)
    expect(await faultsOf(stores)).toEqual([])
    expect(await contentOf(stores)).toMatchObject(before)

    const again = await limited(null, buildArgs(stores))
    expect(again).toMatchObject({ code: 0 })
    expect(await faultsOf(stores)).toEqual([])
  },
)

/** The command under the shell's limit on the size of a file: past it writes fail as they do on a full disk. */
const limited = (blocks: number | null, args: readonly string[]) =>
  startProcess('bash', [
    '-c',
    `ulimit -f ${blocks ?? 'unlimited'} && exec "$@"`,
    ...['bash', process.execPath, LAUNCHER, ...args],
  ]).ended
