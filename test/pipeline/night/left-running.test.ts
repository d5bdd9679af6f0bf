import { expect, test } from 'vitest'
import { STALL_MS } from '#pipeline/modules/processes.ts'
import { aModule, catalogue, dailyBars, moduleText, problemsOfNight } from './night-book.ts'

const BARS = { 'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 101, 102, 103]) }

test('a module that loops without end is ended and named, and stops no other', async () => {
  // The clock of the watchdog moves until the first has been ended: a busy machine ends no other.
  let ms = 0
  const problems = await problemsOfNight(
    {
      ...BARS,
      'strategies/loops.ts': moduleText('loops', { body: 'onBar: () => { for (;;); },' }),
      'strategies/wrong.ts': moduleText('wrong', { body: 'onBar: () => 7,' }),
      'catalogue.yaml': catalogue([aModule('loops'), aModule('wrong')]),
    },
    {
      elapsedMs: () => {
        ms = Math.min(ms + STALL_MS / 2, 2 * STALL_MS)
        return ms
      },
    },
  )
  expect(problems).toEqual([
    expect.stringMatching(/^strategies\/loops\.ts: it made no progress for 30 s and was ended: look for/),
    expect.stringMatching(/^strategies\/wrong\.ts: strategy wrong: at the bar of .* it decided 7: /),
  ])
})

test('an endless chain of promises is ended and named', async () => {
  let ms = 0
  const body = 'init: () => { (async () => { for (;;) await null })(); return {} },'
  const problems = await problemsOfNight(
    {
      ...BARS,
      'strategies/chains.ts': moduleText('chains', { body }),
      'catalogue.yaml': catalogue([aModule('chains')]),
    },
    { elapsedMs: () => (ms += STALL_MS / 2) },
  )
  expect(problems).toEqual([expect.stringMatching(/^strategies\/chains\.ts: it made no progress for 30 s/)])
})
