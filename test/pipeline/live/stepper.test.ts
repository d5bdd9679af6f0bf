// Strategy modules in the processes of the live runner: what one does wrong is reported, and harms no other.
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { barAt } from '#core/replay/bars.ts'
import { decisionHash } from '#core/replay/held.ts'
import type { Book } from '#pipeline/book/book.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { createStepper } from '#pipeline/live/stepper.ts'
import { STALL_MS } from '#pipeline/modules/processes.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { atEnd } from '../../support/ends.ts'
import { bookOf, type Changes, dailyBars, FIRST_DAY, moduleOf } from '../night/night-book.ts'

const CLOSES = [100, 101, 102, 103, 104, 105]

async function readModules(modules: Readonly<Record<string, Changes>>): Promise<Book> {
  const folder = await temporaryFolder()
  const made = Object.entries(modules).map(([id, changes]) => moduleOf(id, changes))
  await writeFiles(folder, bookOf(dailyBars(CLOSES), made))
  return readBook(folder)
}

/** The clock of the watchdog stands still if a test does not move it: a busy machine ends no module. */
function stepperOf(book: Book, elapsedMs = () => 0) {
  const stepper = createStepper(book, { threads: 1, elapsedMs })
  atEnd(() => stepper.close())
  return stepper
}

const inputOf = (book: Book, i = 0) => ({
  entry: book.strategies[i]!,
  funding: null,
  bars: book.bars.get('BTCUSDT-PERP/1d')!.bars,
})

test('a module in the live runner steps from a state to the state of the replay, and leaves the one it was given alone', async () => {
  const book = await readModules({ oak: {} })
  const { bars } = book.bars.get('BTCUSDT-PERP/1d')!
  const stepper = stepperOf(book)
  const whole = await stepper.replay(inputOf(book), bars, 0)
  const firsts = { ...bars, t: bars.t.subarray(0, 2) }
  let { state } = await stepper.replay(inputOf(book), firsts, Number.POSITIVE_INFINITY)
  for (let i = 2; i < CLOSES.length; i++) {
    const given = structuredClone(state)
    const stepped = await stepper.step(inputOf(book), state, barAt(bars, i))
    expect(state).toEqual(given)
    state = stepped.state
  }
  expect(state).toEqual(whole.state)
  expect(whole.days.at(-1)).toEqual({
    openMs: (FIRST_DAY + CLOSES.length - 1) * DAY_MS,
    hash: decisionHash(state),
  })
  expect(whole.reports[0]?.events[0]).toMatchObject({ kind: 'ordered', act: 'long' })
})

test('a module in the live runner that never comes back is ended, and the next one runs', async () => {
  const head = 'const hang = () => { for (;;) {} }'
  const book = await readModules({ oak: { head, body: 'init: hang,' }, elm: {} })
  const clock = { ms: 0, stepMs: STALL_MS }
  const stepper = stepperOf(book, () => {
    clock.ms += clock.stepMs
    return clock.ms
  })
  const hung = stepper.replay(inputOf(book), inputOf(book).bars, 0)
  await expect(hung).rejects.toThrow('strategies/oak.ts: it made no progress for 30 s and was ended')
  clock.stepMs = 0
  expect(await stepper.version(inputOf(book, 1))).toBe('1')
})
