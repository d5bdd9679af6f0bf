import { expect, test } from 'vitest'
import { createTerminal } from '#cli/print/terminal.ts'
import { createStream } from '../made-up.ts'

const CLEAR_LINE = '\r\u001b[2K'

/** A terminal, or a pipe, with a clock that is moved by hand. */
function openTerminal({ isTTY = true } = {}) {
  const clock = { ms: 5_000 }
  const [out, err] = [createStream(), createStream()]
  const terminal = createTerminal({ out, err: { ...err, isTTY }, elapsedMs: () => clock.ms })
  const report = (done: number, total = 200, step = 'render') =>
    terminal.progress({ step, done, total, unit: 'artifacts' })
  return { terminal, report, clock, out: out.text, err: err.text }
}

/** What the line shows now: the text since it was cleared. */
const shown = (text: string): string => text.split(CLEAR_LINE).at(-1)!

test('the progress bar shows how much is done and, at the speed of this step so far, how long the rest takes', () => {
  const { report, clock, err } = openTerminal()
  report(0)
  clock.ms += 2_000
  report(50)
  expect(shown(err())).toBe('render           █████░░░░░░░░░░░░░░░  50/200 artifacts  6 s left')
  clock.ms += 98_000
  report(100)
  expect(shown(err())).toContain('100/200 artifacts  1 min 40 s left')
  report(50_000, 99_999, 'correlate weekly')
  expect(shown(err()).length).toBeLessThan(80)
  report(0, 10, 'compute')
  clock.ms += 2_000
  report(5, 10, 'compute')
  expect(shown(err())).toMatch(/5\/10 artifacts {2}2 s left$/)
})

test('the progress bar estimates nothing in the first two seconds, nor from less than a twentieth of the work', () => {
  const { report, clock, err } = openTerminal()
  report(0)
  expect(shown(err())).toBe('render           ░░░░░░░░░░░░░░░░░░░░  0/200 artifacts')
  clock.ms += 1_999
  report(100)
  expect(shown(err())).toMatch(/100\/200 artifacts$/)
  const slow = openTerminal()
  slow.report(0)
  slow.clock.ms += 60_000
  slow.report(9)
  expect(shown(slow.err())).toMatch(/9\/200 artifacts$/)
  slow.clock.ms += 100
  slow.report(10)
  expect(shown(slow.err())).toMatch(/10\/200 artifacts {2}19 min 2 s left$/)
})

test('the progress bar is one line: each step draws over the one before, and after the last one nothing is left', () => {
  const { report, clock, err } = openTerminal()
  for (const step of ['compute', 'correlate daily', 'render']) {
    for (let done = 0; done <= 10; done++) {
      report(done, 10, step)
      clock.ms += 150
    }
    expect(err()).toContain(step)
    expect(shown(err())).toBe('')
  }
  expect(err()).not.toContain('\n')
})

test('the progress bar is redrawn ten times a second at most', () => {
  const { report, clock, err } = openTerminal()
  for (let done = 0; done <= 200; done++) {
    report(done)
    clock.ms += 10
  }
  const drawn = err().split('\r').length - 1
  expect(drawn).toBeGreaterThan(15)
  expect(drawn).toBeLessThan(25)
})

test('the progress bar gives its line to every other text', () => {
  const { terminal, report, err, out } = openTerminal()
  report(50)
  terminal.note('a word')
  expect(err()).toContain('artifacts\r\u001b[2Ka word\n')
  terminal.print('a result')
  expect(out()).toBe('a result\n')
})

test.each([
  ['no time has passed', 200, 200],
  ['there is nothing to do', 0, 0],
  ['some is done in no time', 7, 200],
])('the progress bar shows only finite numbers if %s', (_case, done, total) => {
  const { report, err } = openTerminal()
  report(done, total)
  expect(err()).not.toMatch(/NaN|Infinity/)
})

test('a stream that is no terminal gets no progress, and the result is one line of JSON on stdout', () => {
  const { terminal, report, clock, out, err } = openTerminal({ isTTY: false })
  for (let done = 0; done <= 200; done++) {
    report(done)
    clock.ms += 1_000
  }
  terminal.json({ version: 'v', list: [1, 'two\nlines'] })
  expect(err()).toBe('')
  expect(out()).toBe('{"version":"v","list":[1,"two\\nlines"]}\n')
})
