import { describe, expect, test } from 'vitest'
import { createTerminal, type ProgressStyle } from '#cli/terminal.ts'
import { createStream } from './made-up.ts'

/** A terminal with a clock that is moved by hand. */
function terminalOf(style: ProgressStyle) {
  const clock = { ms: 5_000 }
  const [out, err] = [createStream(), createStream()]
  const terminal = createTerminal(style, { out, err, elapsedMs: () => clock.ms })
  const tell = (done: number, total = 200, step = 'render') =>
    terminal.progress({ step, done, total, unit: 'artifacts' })
  return { terminal, tell, clock, out: out.text, err: err.text }
}

/** What a bar shows at last: the text after the last time that its line was cleared. */
const lastBar = (text: string): string => text.split('\r\u001b[2K').at(-1)!

describe('a bar', () => {
  test('shows how much is done, the rate, and what is left at that rate', () => {
    const { tell, clock, err } = terminalOf('bar')
    tell(0)
    clock.ms += 2_000
    tell(50)
    expect(lastBar(err())).toBe(
      'render           ███████░░░░░░░░░░░░░░░░░░░░░  50/200 artifacts  25/s  6 s left',
    )
  })

  test('ends with a full line that says how long it took', () => {
    const { tell, clock, err } = terminalOf('bar')
    tell(0)
    clock.ms += 4_000
    tell(200)
    expect(lastBar(err())).toBe(
      'render           ████████████████████████████  200/200 artifacts  50/s  4.0 s\n',
    )
  })

  test('estimates nothing before anything is done', () => {
    const { tell, err } = terminalOf('bar')
    tell(0)
    expect(lastBar(err())).toBe('render           ░░░░░░░░░░░░░░░░░░░░░░░░░░░░  0/200 artifacts')
  })

  test.each([
    ['no time has passed', 200, 200],
    ['there is nothing to do', 0, 0],
    ['some is done in no time', 7, 200],
  ])('divides by nothing where %s', (_case, done, total) => {
    const { tell, err } = terminalOf('bar')
    tell(done, total)
    expect(err()).not.toMatch(/NaN|Infinity/)
  })

  test('is drawn again ten times a second at most, and always at the end', () => {
    const { tell, clock, err } = terminalOf('bar')
    for (let done = 0; done <= 200; done++) {
      tell(done)
      clock.ms += 10
    }
    const drawn = err().split('\r').length - 1
    expect(drawn).toBeGreaterThan(15)
    expect(drawn).toBeLessThan(25)
  })

  test('times each step from its own beginning', () => {
    const { tell, clock, err } = terminalOf('bar')
    tell(0)
    clock.ms += 60_000
    tell(200)
    tell(0, 10, 'compute')
    clock.ms += 1_000
    tell(10, 10, 'compute')
    expect(lastBar(err())).toContain('10/10 artifacts  10/s  1.0 s')
  })

  test('gives its line up to whatever else is said', () => {
    const { terminal, tell, err, out } = terminalOf('bar')
    tell(50)
    terminal.note('a word')
    expect(err()).toMatch(/artifacts[^\n]*\na word\n$/)
    terminal.print('a result')
    expect(out()).toBe('a result\n')
  })
})

describe('lines', () => {
  test('are told at each quarter and at the end, without a control character', () => {
    const { tell, clock, err } = terminalOf('lines')
    for (let done = 0; done <= 200; done++) {
      tell(done)
      clock.ms += 10
    }
    expect(err()).toBe(
      'render: 50/200 artifacts after 0.5 s (100/s)\n' +
        'render: 100/200 artifacts after 1.0 s (100/s)\n' +
        'render: 150/200 artifacts after 1.5 s (100/s)\n' +
        'render: 200/200 artifacts after 2.0 s (100/s)\n',
    )
  })

  test('say a rate below ten with a decimal', () => {
    const { tell, clock, err } = terminalOf('lines')
    tell(0, 3)
    clock.ms += 2_000
    tell(3, 3)
    expect(err()).toBe('render: 3/3 artifacts after 2.0 s (1.5/s)\n')
  })
})

test('a terminal for a program shows no progress, and its result is one line of JSON on stdout', () => {
  const { terminal, tell, out, err } = terminalOf('none')
  tell(0)
  tell(200)
  terminal.json({ version: 'v', list: [1, 'two\nlines'] })
  expect(err()).toBe('')
  expect(out()).toBe('{"version":"v","list":[1,"two\\nlines"]}\n')
})
