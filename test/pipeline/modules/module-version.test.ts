// The version that a module states, which is published.
import { describe, expect, test } from 'vitest'
import { readBook } from '#pipeline/book/read-book.ts'
import { createStepper } from '#pipeline/live/stepper.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { atEnd } from '../../support/ends.ts'
import { aModule, catalogue, dailyBars, moduleText, nightOf, problemsOfNight } from '../night/night-book.ts'

const bookOf = (version: string) => ({
  'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 101, 102, 103]),
  'strategies/oak.ts': moduleText('oak', { body: `version: ${version},` }),
  'catalogue.yaml': catalogue([aModule('oak')]),
})

const REFUSED =
  /version must be a text of 1 to 32 letters, digits or \. _ \+ - such as '1\.2', and it is not: correct the module$/

describe('the version of a module', () => {
  test.each(["'1'", "'2026-11-23'", "'1.2.0-rc_1+b'", "'x'.repeat(32)"])('may be %s', async version => {
    const { snapshot } = await nightOf(bookOf(version))
    expect(`'${snapshot.strategies[0]!.module_version}'`).toHaveLength(
      version.includes('repeat') ? 34 : version.length,
    )
  })

  test.each([
    '1',
    'undefined',
    'null',
    '{}',
    "['1']",
    "''",
    "'a b'",
    "'1\\n'",
    "'1\\n\\x1b[31m'",
    "'\\x9b31m'",
    "'x'.repeat(33)",
    "'x'.repeat(100_000)",
  ])('may not be %s', async version => {
    const problems = await problemsOfNight(bookOf(version))
    expect(problems).toEqual([expect.stringMatching(REFUSED)])
    expect(problems[0]!.startsWith('strategies/oak.ts: strategy oak: version ')).toBe(true)
  })

  test('is refused by a live runner too, before it runs a bar', async () => {
    const folder = await temporaryFolder()
    await writeFiles(folder, bookOf('7'))
    const book = await readBook(folder)
    const stepper = createStepper(book, { threads: 1, elapsedMs: () => 0 })
    atEnd(stepper.close)
    const { bars } = book.bars.get('BTCUSDT-PERP/1d')!
    await expect(stepper.version({ entry: book.strategies[0]!, funding: null, bars })).rejects.toThrow(
      REFUSED,
    )
  })
})
