// Modules that run out of something: one sentence each, and nothing of what Node prints about it.
import { expect, test, vi } from 'vitest'
import { casesOf } from '#test/support/cases-of.ts'
import { bookOf, dailyBars, moduleOf, problemsOfNight } from '../night/night-book.ts'

const OUT_OF_MEMORY =
  'it needed more than 512 MB for its objects or 3 GB with its arrays, and was ended: look for a list that grows ' +
  'without end, and keep less in its state'

/** If the arrays leave less memory than Node needs to collect garbage, Node ends before the allocation can fail. */
const outOfArrays = (message: string): RegExp =>
  new RegExp(
    String.raw`^strategies/m\d\.ts(:\d+:\d+: RangeError: ${message}: look for arrays that grow without end, and keep less in memory|: ${OUT_OF_MEMORY})$`,
  )

/** What a module does, and the sentence. */
const RUN_AWAYS = casesOf<[string, string, RegExp]>`
fills the heap -> init: () => { const all = []; for (;;) all.push(new Array(1e6).fill(1)) }, -> ${new RegExp(`^strategies/m\\d\\.ts: ${OUT_OF_MEMORY}$`)}
fills arrays of numbers, which are outside of the heap -> init: () => { const all = []; for (;;) all.push(new Float64Array(1e7)) }, -> ${outOfArrays('Array buffer allocation failed')}
calls itself without end -> onBar: () => { const f = n => 1 + f(n + 1); return f(0) }, -> ${/^strategies\/m\d\.ts:\d+:\d+: at the bar of 2024-01-01T00:00:00Z: RangeError: Maximum call stack size exceeded: look for a function that calls itself without end, or a state that contains itself$/}
has a state that contains itself -> init: () => { const a = {}; a.a = a; return a }, -> ${/^strategies\/m\d\.ts: RangeError: Maximum call stack size exceeded: look for .* a state that contains itself$/}
doubles a text -> init: () => { let text = 'x'; for (;;) text += text }, -> ${/^strategies\/m\d\.ts:\d+:\d+: RangeError: Invalid string length: look for a text that grows without end$/}
remembers for ever -> memoryBars: 1e9, -> ${/^strategies\/m\d\.ts: strategy m\d: memoryBars must be at most 1826, which is 1826 days, it is 1000000000: /}
is warm after ten years -> warmupBars: 1000, -> ${/^strategies\/m\d\.ts: strategy m\d: memoryBars \(by default twice warmupBars\) must be at most 1826, which is 1826 days, it is 2000: /}`

test('modules that run out of something are refused with one sentence each, print nothing, and harm no other', async () => {
  const modules = RUN_AWAYS.map(([, body], i) => moduleOf(`m${i}`, { body }))
  const all = [...modules, moduleOf('wrong', { body: 'onBar: () => 7,' })]
  const chunks: string[] = []
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation(chunk => {
    chunks.push(String(chunk))
    return true
  })
  try {
    const problems = await problemsOfNight(bookOf(dailyBars([100, 101, 102, 103]), all))
    const expected = RUN_AWAYS.map(([, , sentence]) => expect.stringMatching(sentence))
    expect(problems).toEqual([...expected, expect.stringMatching(/^strategies\/wrong\.ts: .* it decided 7/)])
  } finally {
    spy.mockRestore()
  }
  expect(chunks.join('')).toBe('')
})
