// The two books that the program writes: they build as they are, and a folder with something in it is left alone.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { parseBuildSummary } from '../support/books/build-summary.ts'
import { highwater } from '../support/history/highwater-process.ts'
import { faultsOf, newStores, pointerOf } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

test('the starter book of `highwater init` builds at once, with no option but its folder and a store', async () => {
  const stores = await newStores()
  const cwd = await lastingFolder()
  expect(await highwater(['init', 'book'], { cwd })).toMatchObject({ code: 0, stderr: '' })
  const built = await highwater(['build', '--book', 'book', '--store', stores.url, '--json'], { cwd })
  expect(built).toMatchObject({ code: 0, stderr: '' })
  const { version, strategies } = parseBuildSummary(built.stdout)
  expect(strategies).toMatchObject([{ id: 'oak', verification_state: 'dual_verified' }])
  expect(await pointerOf(stores)).toBe(version)
  expect(await faultsOf(stores)).toEqual([])
})

test('`highwater sample` writes the sample book as it is written everywhere', async () => {
  const [here, there] = [join(await lastingFolder(), 'book'), await lastingFolder()]
  const exit = await highwater(['sample', here])
  expect(exit).toMatchObject({ code: 0, stdout: `the sample book is in ${here}\n`, stderr: '' })
  await writeSampleBook(there)
  expect(await filesUnder(here)).toEqual(await filesUnder(there))
})

test.each(['init', 'sample'])(
  '`highwater %s` leaves a folder alone that has something in it',
  async command => {
    const folder = await lastingFolder()
    await writeFile(join(folder, 'catalogue.yaml'), 'mine')
    const exit = await highwater([command, folder])
    expect(exit).toMatchObject({ code: 1, stdout: '' })
    expect(exit.stderr).toContain(`expected an empty or new folder, got ${folder} with catalogue.yaml in it`)
    expect(await filesUnder(folder)).toEqual({ 'catalogue.yaml': 'mine' })
  },
)

async function filesUnder(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const texts = await Promise.all(
    paths.map(async path => [path.slice(folder.length + 1), await readFile(path, 'utf8')]),
  )
  return Object.fromEntries(texts)
}
