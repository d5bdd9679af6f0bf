// What an operator changes on the command line, and what a reader then finds: a removed strategy, other rules, fewer trials.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { versionFolder } from '#core/contract/artifacts.ts'
import { aModule, catalogue, dailyBars, moduleText } from '#test/pipeline/night/night-book.ts'
import { lastingFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { run } from './made-up.ts'

const oak = aModule('oak')
const BOOK = {
  'catalogue.yaml': catalogue([{ ...oak, trials: 40 }, aModule('elm')]),
  'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 101, 99, 98, 97, 99, 103, 105, 106, 104, 101, 99, 98, 101]),
  'strategies/oak.ts': moduleText('oak'),
  'strategies/elm.ts': moduleText('elm'),
}
/** A rule that begins on a date after the first publication, which no published value shows. */
const LATER_RULE = {
  head: 'const since = 1_705_363_200_000',
  body: 'onBar: (state, bar, position) => position === null && bar.t < since ? { act: "long", stop: bar.c / 2 } : null,',
}
const FORGED = {
  'catalogue.yaml': catalogue([{ ...oak, trials: 1 }], { benchmark: false }),
  'strategies/oak.ts': moduleText('oak', LATER_RULE),
}
const V1 = '2024-01-15T00:15:00Z'
const V2 = '2024-01-15T00:30:00Z'
const WHY = 'elm lost, and oak has a comment'

let folder: string
let refused: Awaited<ReturnType<typeof run>>

beforeAll(async () => {
  folder = await lastingFolder()
  const store = pathToFileURL(join(folder, 'store')).href
  const build = (version: string, ...more: readonly string[]) =>
    run(['build', '--book', 'book', '--store', store, '--effort', 'quick', '--version', version, ...more], {
      cwd: folder,
    })
  await writeFiles(join(folder, 'book'), BOOK)
  expect(await build(V1)).toMatchObject({ code: 0 })
  await rm(join(folder, 'book/strategies/elm.ts'))
  await writeFiles(join(folder, 'book'), FORGED)
  refused = await build(V2)
  const declared = ['--remove', 'elm', '--same-rules', 'oak', '--reason', WHY]
  expect(await build(V2, ...declared)).toMatchObject({ code: 0 })
})

/** The text of a page of the second version. */
async function textOf(name: string): Promise<string> {
  const page = await readFile(join(folder, 'store', versionFolder(V2), name), 'utf8')
  return page
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&gt;', '>')
}

test('a removed strategy and rules with a later date stop a build, which names both and the ways on', () => {
  expect(refused.code).toBe(1)
  expect(refused.err).toContain('elm: the strategy is gone')
  expect(refused.err).toContain(
    'oak: the files of its module differ, and the version of the module is the same',
  )
  expect(refused.err).toContain('--remove elm --reason TEXT')
  expect(refused.err).toContain('--same-rules oak --reason TEXT')
})

test('a removed strategy stays on the page of the book as a line with its days and the reason', async () => {
  expect(await textOf('index.html')).toContain(
    `A strategy (elm), 14 days, published since ${V1}, removed on 2024-01-15. Reason: ${WHY}`,
  )
})

test('rules with a later date, declared the same, stand on the fact sheet with the date and the reason', async () => {
  expect(await textOf('strategies/oak/sheet.html')).toContain(
    `${V2}: other files, declared the same rules. Reason: ${WHY}`,
  )
})

test('fewer trials, a benchmark that is gone and everything that was declared stand on the versions page', async () => {
  const text = await textOf('versions.html')
  for (const sentence of [
    `Removed: elm. Reason: ${WHY}`,
    `Rules declared the same, other files of the module: oak. Reason: ${WHY}`,
    'Changed: benchmark BTCUSDT-PERP, shown -> none.',
    'Changed: trials of oak, 40 -> 1.',
  ])
    expect(text).toContain(sentence)
  expect(text).not.toContain('New days only.')
})
