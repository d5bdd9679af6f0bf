// The list of digests, judged by the program that users will hold it to.
import { execFile } from 'node:child_process'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { manifestKey, versionFolder } from '#core/contract/artifacts.ts'
import { sha256Sums } from '#static-build/version-documents.ts'
import { openStore } from '#storage/open-store.ts'
import { TINY_VERSION } from '#test/support/books/publish-book.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { manifestIn } from './tree.ts'

const { url } = inject('tinyStore')
const NOT_LISTED = /^(manifest\.json(\.sig)?|SHA256SUMS)$/

const manifestOfTiny = async () => manifestIn(await openStore(url), manifestKey(TINY_VERSION))

/** A copy of the folder of the published version, with the list in it. */
async function copyWithSums(): Promise<string> {
  const folder = join(await temporaryFolder(), 'copy')
  await cp(join(fileURLToPath(url), versionFolder(TINY_VERSION)), folder, { recursive: true })
  await writeFile(join(folder, 'SHA256SUMS'), sha256Sums(await manifestOfTiny()))
  return folder
}

/** What `sha256sum` says of a folder: its exit code and its complaints. */
async function check(folder: string): Promise<{ readonly code: number; readonly printed: string }> {
  const command = promisify(execFile)('sha256sum', ['-c', '--strict', '--quiet', 'SHA256SUMS'], {
    cwd: folder,
    env: { ...process.env, LC_ALL: 'C' },
  })
  return command.then(
    ({ stdout }) => ({ code: 0, printed: stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, printed: stdout }),
  )
}

test('SHA256SUMS is accepted by sha256sum in a copy of the folder of the version', async () => {
  expect(await check(await copyWithSums())).toEqual({ code: 0, printed: '' })
})

test('SHA256SUMS shows a file with one other byte, and a file that is gone, by name', async () => {
  const folder = await copyWithSums()
  const altered = 'strategies/ash/returns.daily.csv'
  const bytes = await readFile(join(folder, altered))
  await writeFile(join(folder, altered), bytes.with(bytes.length - 3, bytes.at(-3)! ^ 1))
  await rm(join(folder, 'summary.json.br'))
  const { code, printed } = await check(folder)
  expect(code).toBe(1)
  expect(printed.split('\n').filter(line => line !== '')).toEqual([
    `${altered}: FAILED`,
    'summary.json.br: FAILED open or read',
  ])
})

test('SHA256SUMS lists every file of the version but the manifest and itself, once and by path', async () => {
  const entries = await readdir(await copyWithSums(), { recursive: true, withFileTypes: true })
  const sums = sha256Sums(await manifestOfTiny())
  const listed = sums
    .split('\n')
    .slice(0, -1)
    .map(line => line.slice(66))
  const files = entries.filter(entry => entry.isFile() && !NOT_LISTED.test(entry.name))
  expect(listed.length).toBe(files.length)
  expect(listed).toEqual([...new Set(listed)].sort())
})

test('SHA256SUMS is refused for a manifest that names files outside the folder of its version', async () => {
  const manifest = await manifestOfTiny()
  const [first] = manifest.artifacts
  const astray = {
    ...manifest,
    artifacts: [{ ...first!, key: 'v1/snapshots/20000101T000000Z/summary.json' }],
  }
  expect(() => sha256Sums(astray)).toThrow(/is not in the folder/)
})
