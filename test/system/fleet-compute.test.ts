// Strategies that workers of a fleet compute: modules, ledgers and returns have the bytes of one machine, refusals its words.
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PHASES, type Phase } from '#static-build/fleet/run-files.ts'
import { openStore } from '#storage/open-store.ts'
import { type Stores, TINY_BOOK } from '../support/books/publish-book.ts'
import { highwater, startHighwater } from '../support/history/highwater-process.ts'
import { fileGround, newKeyFile } from '../support/kills/grounds.ts'
import { buildArgs, faultsOf, newStores, pointerOf, versionContentOf } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const buildOn = (stores: Stores, run: string, book = TINY_BOOK): string[] => [
  ...buildArgs(stores, { book }),
  ...['--run', run, '--fleet-wait', '600'],
]

const shareOf = ({ url, privateUrl }: Stores, run: string, share: string): string[] => [
  ...[
    'worker',
    '--store',
    url,
    '--private-store',
    privateUrl,
    '--threads',
    '1',
    '--run',
    run,
    '--share',
    share,
  ],
]

/** Resolves when a phase of the run has begun. */
const begun = async ({ privateUrl }: Stores, run: string, phase: Phase): Promise<void> => {
  const store = await openStore(privateUrl)
  await expect.poll(() => store.has(`fleet/${run}/${phase}/plan.json`)).toBe(true)
}

/** Writes of a worker after which it is killed: results of all phases, and files. */
const KILLED_AT = [0, 1, 2, 3, 5, 8, 13, 40]

test(`modules, ledgers and returns are computed by workers that are killed at ${KILLED_AT.length} of their writes`, async () => {
  const alone = await newStores()
  expect(await highwater(buildArgs(alone))).toMatchObject({ code: 0 })
  const stores = await newStores()
  const ground = await fileGround(await newKeyFile())
  const building = startHighwater([...buildOn(stores, 'night'), '--json'])
  await begun(stores, 'night', 'compute')
  for (const nth of KILLED_AT) {
    const at = { at: { nth }, isDone: nth % 2 === 0 }
    const exit = await ground.runUntil(shareOf(stores, 'night', '1/1'), at)
    expect(exit, `${exit.stdout}${exit.stderr}`).toMatchObject({ signal: 'SIGKILL' })
  }
  const last = await highwater(shareOf(stores, 'night', '1/1'))
  expect(last).toMatchObject({ code: 0 })
  for (const phase of PHASES) expect(last.stderr).toContain(`every task of the run night is done (${phase})`)
  const built = await building.ended
  expect(built).toMatchObject({ code: 0 })
  const { computed, rendered } = JSON.parse(built.stdout).fleet
  const sum = (counts: Record<string, number>) =>
    Object.values(counts).reduce((total, count) => total + count, 0)
  expect([sum(computed), sum(rendered)]).toEqual([4, 4])
  expect(await versionContentOf(stores)).toEqual(await versionContentOf(alone))
  expect(await faultsOf(stores)).toEqual([])
})

test('a coordinator that is killed after each phase has begun continues it, and no worker gives up', async () => {
  const alone = await newStores()
  expect(await highwater(buildArgs(alone))).toMatchObject({ code: 0 })
  const stores = await newStores()
  const worker = startHighwater(shareOf(stores, 'night', '1/1'))
  for (const phase of PHASES) {
    const building = startHighwater(buildOn(stores, 'night'))
    await begun(stores, 'night', phase)
    building.kill('SIGKILL')
    await building.ended
  }
  expect(await highwater(buildOn(stores, 'night'))).toMatchObject({ code: 0 })
  expect(await worker.ended).toMatchObject({ code: 0 })
  expect(await versionContentOf(stores)).toEqual(await versionContentOf(alone))
})

test('a module that a worker refuses ends the build with the words of one machine, and the run', async () => {
  const book = join(await lastingFolder(), 'book')
  await cp(TINY_BOOK, book, { recursive: true })
  const module = join(book, 'strategies/ash.ts')
  const text = await readFile(module, 'utf8')
  await writeFile(
    module,
    text.replace('(bar.c - state.fast) / 5', '(bar.c - state.fast) / (5 + Math.random())'),
  )
  const stores = await newStores()
  const alone = await highwater(buildArgs(stores, { book }))
  expect(alone.stderr).toMatch(/strategies\/ash\.ts/)
  const building = startHighwater(buildOn(stores, 'night', book))
  const worker = await highwater(shareOf(stores, 'night', '1/1'))
  const refused = await building.ended
  expect([alone.code, refused.code, worker.code]).toEqual([1, 1, 0])
  const problems = (stderr: string) => stderr.split('\n').filter(line => line.includes('strategies/ash.ts'))
  expect(problems(refused.stderr)).toEqual(problems(alone.stderr))
  expect(worker.stdout).toContain('the run night is over')
  expect(await pointerOf(stores)).toBeNull()
  await writeFile(module, text)
  const again = await highwater(buildOn(stores, 'night', book))
  expect(again.stderr).toContain('the run night is over, it published nothing: name another one in --run')
})
