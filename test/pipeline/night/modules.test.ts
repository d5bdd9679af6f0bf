import { expect, test, vi } from 'vitest'
import { STALL_MS } from '#pipeline/modules/processes.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { bookOf, csv, dailyBars, ledgerOf, moduleOf, nightOf, problemsOfNight } from './night-book.ts'

const BARS = dailyBars([100, 101, 102, 103])

type Says = string | RegExp

/** Modules that are wrong in one way each: what they change of a sound one, and what the operator reads after the name of the file. */
const WRONG: Readonly<Record<string, readonly [string, Says]>> = Object.fromEntries(
  casesOf<[string, string, Says]>`
init_throws -> init: () => { throw new RangeError('no room') }, -> ${/^:\d+:\d+: RangeError: no room$/}
bar_throws -> onBar: state => state.window.length, -> ${/^:\d+:\d+: at the bar of 2024-01-01T00:00:00Z: TypeError: .*undefined.*'length'/}
throws_text -> onBar: () => { throw 'a text' }, -> : at the bar of 2024-01-01T00:00:00Z: it threw a value that is not an Error: a text
throws_silence -> onBar: () => { throw new Error() }, -> ${/^:\d+:\d+: at the bar of \S+ it threw an Error without a message$/}
throws_unsendable -> onBar: () => { throw { act: () => 1 } }, -> ${/^: at the bar of \S+ it threw a value that is not an Error: \{\}$/}
other_id -> id: 'oak', -> : id: other_id in the catalogue, oak in the module
other_timeframe -> timeframeMs: 3_600_000, -> : timeframeMs: 86400000 in the catalogue, 3600000 in the module
other_risk -> baseRisk: 0.05, -> : baseRisk: 0.02 in the catalogue, 0.05 in the module
exits -> onBar: () => process.exit(0), -> ${/^:\d+:\d+: at the bar of \S+ ReferenceError: process is not defined$/}
says_rubbish -> onBar: () => ({ act: 'buy' }), -> ${': strategy says_rubbish: at the bar of 2024-01-01T00:00:00Z it decided {"act":"buy"}: a decision must be null, or have `act` long, short or flat'}
says_nothing -> onBar: () => undefined, -> ${/^: strategy says_nothing: at the bar of .*a decision must be null/}
is_async -> onBar: async () => null, -> ${/^: strategy is_async: at the bar of .*a decision must be null/}
stop_above -> onBar: (state, bar) => ({ act: 'long', stop: bar.c + 1 }), -> ${/^: .*the stop of a long must be above 0 and below the close 100, it is 101$/}
loses_a_promise -> init: () => { Promise.reject(new Error('lost')); return {} }, -> ${/^:\d+:\d+: lost$/}`.map(
    ([name, ...each]) => [name, each],
  ),
)

/** The same of modules that are nothing else: their whole text. */
const BROKEN: Readonly<Record<string, readonly [string, Says]>> = Object.fromEntries(
  casesOf<[string, string, Says]>`
import_throws -> throw new Error('no such table') -> :1:7: no such table
does_not_parse -> ${'// The third line\n// is wrong.\nexport const = 1'} -> ${/^:3: SyntaxError: /}
no_export -> export const other = 1 -> ${': a strategy module exports `strategy`, an object with init() and onBar(); this one does not'}`.map(
    ([name, ...each]) => [name, each],
  ),
)

test('every module that is wrong is named with its file and the fault, all of them at once, beside a bad ledger', async () => {
  const wrong = Object.entries(WRONG).map(([id, [body]]) => moduleOf(id, { body }))
  const broken = Object.entries(BROKEN).map(([id, [text]]) => ({ ...moduleOf(id), text }))
  const outside = csv(
    'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage',
    'long,2024-01-02T00:00:00Z,100,2024-01-03T00:00:00Z,999,signal,1',
  )
  const strategies = [...wrong, ...broken, moduleOf('sound'), ledgerOf('outside', outside)]
  const problems = await problemsOfNight(bookOf(BARS, strategies), { threads: 2 })
  for (const [id, [, says]] of Object.entries({ ...WRONG, ...BROKEN })) {
    const file = `strategies/${id}.ts`
    const own = problems
      .filter(problem => problem.startsWith(file))
      .map(problem => problem.slice(file.length))
    expect(own, id).toEqual([typeof says === 'string' ? says : expect.stringMatching(says)])
  }
  expect(problems.at(-1)).toMatch(/^ledgers\/outside\.csv:2: the trade has its exit at 999, outside the bar/)
  expect(problems).toHaveLength(wrong.length + broken.length + 1)
})

test('what a module prints goes to stderr and never to stdout', async () => {
  const out = listenTo(process.stdout)
  const err = listenTo(process.stderr)
  try {
    const body = `init: () => { console.log('hello there'); return {} },`
    await nightOf(bookOf(BARS, [moduleOf('oak', { body })]))
    await expect.poll(() => err.heard()).toContain('hello there')
  } finally {
    out.end()
    err.end()
  }
  expect(out.heard()).not.toContain('hello there')
})

/** Keeps what is written to a stream of this process to itself. */
function listenTo(stream: NodeJS.WriteStream) {
  const chunks: string[] = []
  const spy = vi.spyOn(stream, 'write').mockImplementation(chunk => {
    chunks.push(String(chunk))
    return true
  })
  return { heard: () => chunks.join(''), end: () => spy.mockRestore() }
}

test.each([
  ['loops without end', 'onBar: () => { for (;;); },'],
  [
    'makes an endless chain of promises',
    'init: () => { (async () => { for (;;) await null })(); return {} },',
  ],
])('a module that %s is ended and named, and stops no other', async (_, body) => {
  // The clock of the watchdog moves until the first has been ended: a busy machine ends no other.
  let ms = 0
  const elapsedMs = () => {
    ms = Math.min(ms + STALL_MS / 2, 2 * STALL_MS)
    return ms
  }
  const book = bookOf(BARS, [moduleOf('endless', { body }), moduleOf('wrong', { body: 'onBar: () => 7,' })])
  expect(await problemsOfNight(book, { elapsedMs })).toEqual([
    expect.stringMatching(/^strategies\/endless\.ts: it made no progress for 30 s and was ended: look for/),
    expect.stringMatching(/^strategies\/wrong\.ts: strategy wrong: at the bar of .* it decided 7: /),
  ])
})
