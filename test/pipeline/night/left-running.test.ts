import { expect, test } from 'vitest'
import { STALL_MS } from '#pipeline/night/threads.ts'
import { aModule, catalogue, dailyBars, moduleText, problemsOfNight, reported } from './night-book.ts'

const BARS = { 'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 101, 102, 103]) }

test('a module that loops without end, or waits for ever, is ended and named, and stops no other', async () => {
  // One at a time, and the clock of the watchdog moves only while one of the first two runs: a busy machine ends no other.
  const clock = { ms: 0, done: 0 }
  const problems = await problemsOfNight(
    {
      ...BARS,
      'strategies/loops.ts': moduleText('loops', { body: 'onBar: () => { for (;;); },' }),
      'strategies/waits.ts': 'await new Promise(() => {})',
      'strategies/wrong.ts': moduleText('wrong', { body: 'onBar: () => 7,' }),
      'catalogue.yaml': catalogue([aModule('loops'), aModule('waits'), aModule('wrong')]),
    },
    {
      progress: ({ done }) => {
        clock.done = done
      },
      elapsedMs: () => {
        if (clock.done < 2) clock.ms += STALL_MS
        return clock.ms
      },
    },
  )
  expect(problems).toEqual([
    expect.stringMatching(/^strategies\/loops\.ts: it made no progress for 30 s and was ended: look for/),
    expect.stringMatching(/^strategies\/waits\.ts: it made no progress for 30 s and was ended: look for/),
    expect.stringMatching(/^strategies\/wrong\.ts: strategy wrong: at the bar of .* it decided 7: /),
  ])
})

/** An init that holds its thread for so long. */
const sleeping = (ms: number): string =>
  `init: () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms}); return {} },`

/** An init that leaves a timer behind, which throws as soon as the thread is let go. */
const LEAVES = 'init: () => { setTimeout(() => { throw new Error("too late") }, 1); return {} },'

test('an error in what a module left running is reported as its own, whatever its thread was doing', async () => {
  // The timer is due before the other module lets the thread go, and so it ends the task after that.
  const busy = sleeping(20)
  const problems = await problemsOfNight({
    ...BARS,
    'strategies/leaves.ts': moduleText('leaves', { body: LEAVES }),
    'strategies/busy.ts': moduleText('busy', { body: busy }),
    'catalogue.yaml': catalogue([aModule('leaves'), aModule('busy')]),
  })
  expect(problems).toEqual([expect.stringMatching(/^strategies\/leaves\.ts:\d+:\d+: too late$/)])
})

test('an error that ends a thread when nothing runs on it any more ends the build with its name', async () => {
  const busy = sleeping(1_000) // the other thread starts and ends within it, on a busy machine too
  const problems = await problemsOfNight(
    {
      ...BARS,
      'strategies/leaves.ts': moduleText('leaves', { body: LEAVES }),
      'strategies/busy.ts': moduleText('busy', { body: busy }),
      'returns/yew.csv': 't,ret\n2024-01-01,0.01\n',
      'catalogue.yaml': catalogue([aModule('leaves'), aModule('busy'), reported('yew')]),
    },
    { threads: 2 },
  )
  expect(problems).toEqual([expect.stringMatching(/^strategies\/leaves\.ts:\d+:\d+: too late$/)])
})
