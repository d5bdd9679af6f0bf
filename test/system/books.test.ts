// The two books that the program writes: they build as they are, and a folder with something in it is left alone.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { run } from '../cli/made-up.ts'
import { parseBuildSummary } from '../support/books/build-summary.ts'
import { faultsOf, newStores, pointerOf } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

test('the starter book of `highwater init` builds at once, with no option but its folder and a store', async () => {
  const stores = await newStores()
  const cwd = await lastingFolder()
  expect(await runNow(['init', 'book'], cwd)).toMatchObject({ code: 0, err: '' })
  const built = await runNow(['build', '--book', 'book', '--store', stores.url, '--json'], cwd)
  expect(built).toMatchObject({ code: 0, err: '' })
  const { version, strategies } = parseBuildSummary(built.out)
  expect(strategies).toMatchObject([{ id: 'oak', verification_state: 'dual_verified' }])
  expect(await pointerOf(stores)).toBe(version)
  expect(await faultsOf(stores)).toEqual([])
})

test('`highwater sample` writes the sample book as it is written everywhere', async () => {
  const [here, there] = [join(await lastingFolder(), 'book'), await lastingFolder()]
  const exit = await runNow(['sample', here])
  expect(exit).toMatchObject({ code: 0, out: `the sample book is in ${here}\n`, err: '' })
  await writeSampleBook(there)
  expect(await filesUnder(here)).toEqual(await filesUnder(there))
})

test.each(['init', 'sample'])(
  '`highwater %s` leaves a folder alone that has something in it',
  async command => {
    const folder = await lastingFolder()
    await writeFile(join(folder, 'catalogue.yaml'), 'mine')
    const exit = await runNow([command, folder])
    expect(exit).toMatchObject({ code: 1, out: '' })
    expect(exit.err).toContain(`expected an empty or new folder, got ${folder} with catalogue.yaml in it`)
    expect(await filesUnder(folder)).toEqual({ 'catalogue.yaml': 'mine' })
  },
)

const runNow = (args: readonly string[], cwd = '/') => run(args, { cwd, now: () => Date.now() })

async function filesUnder(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const texts = await Promise.all(
    paths.map(async path => [path.slice(folder.length + 1), await readFile(path, 'utf8')]),
  )
  return Object.fromEntries(texts)
}
