// The proof itself, without the fences: modules that do reach the memory of their process, or chance, or another run.
import { expect, test } from 'vitest'
import { type Bars, lastAtOrBefore } from '#core/replay/bars.ts'
import { createEngine } from '#core/replay/engine.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import { ModuleFault } from '#pipeline/modules/module-fault.ts'
import type { Processes } from '#pipeline/modules/processes.ts'
import { proofOf, runModules } from '#pipeline/modules/run-modules.ts'
import { advance, decideLate, replayWhole, type WholeInput } from '#pipeline/modules/tasks.ts'
import { FREE, TIMEFRAME_MS } from '../../core/replay/hand.ts'
import { syntheticBars } from '../../core/replay/synthetic-bars.ts'

const BARS = syntheticBars(3_000)

type OnBar = Strategy['onBar']

const HONEST: Strategy = {
  id: 'oak',
  version: '1',
  timeframeMs: TIMEFRAME_MS,
  warmupBars: 0,
  baseRisk: 0.02,
  init: () => ({}),
  onBar: (_, bar, position) =>
    bar.c > bar.o ? (position === null ? LONG(bar.c) : null) : position === null ? null : FLAT,
}

/** Runs a strategy in this process: `reach` gets all bars that a process of its own would have been given. */
function unfenced(reach: (bars: Bars) => OnBar): Processes {
  const tasks = { advance, replayWhole, decideLate } as unknown as Record<string, typeof replayWhole>
  const run = async (name: string, input: WholeInput) => {
    const openRealm = () => {
      const strategy: Strategy = { ...HONEST, onBar: reach(input.bars) }
      let state: unknown = {}
      const onBar: OnBar = (_, ...rest) => strategy.onBar(state, ...rest)
      return {
        strategy: { ...strategy, init: () => (state = {}), onBar },
        files: [],
        save: () => structuredClone(state),
        load: (own: unknown) => (state = structuredClone(own)),
        takePrinted: () => '',
        toFault: () => new ModuleFault(['it threw']),
      }
    }
    const spare = 'takesTurns' in input && input.takesTurns ? openRealm() : null
    return structuredClone(
      tasks[name]!(input, { realm: openRealm(), spare, beat: () => {}, flush: () => {} }),
    )
  }
  return { run: run as unknown as Processes['run'], close: async () => {} }
}

const ENTRY = {
  ...{ id: 'oak', source: { kind: 'module', path: '/oak.ts' }, timeframe: '4h', base_risk_pct: 0.02 },
  ...{ inception: null, replayed_at: [], ...FREE },
} as unknown as Parameters<typeof runModules>[1][number]['entry']

async function problemOf(reach: (bars: Bars) => OnBar): Promise<string | null> {
  const tasks = [{ entry: ENTRY, bars: BARS, funding: null }]
  const outcomes = await runModules(unfenced(reach), tasks, proofOf(tasks), () => {})
  const outcome = outcomes.get('oak')!
  return 'problems' in outcome ? outcome.problems.map(({ message }) => message).join() : null
}

const LONG = (close: number) => ({ act: 'long', stop: close * 0.9 }) as const
const FLAT = { act: 'flat', why: 'signal' } as const

test('the proof of a module cuts its history in early and in late places of equal parts', () => {
  const { dates } = proofOf([{ entry: ENTRY, bars: BARS, funding: null }])
  const [from, to] = [BARS.t[0]!, dates.at(-1)!]
  const places = dates.slice(0, -1).map((date, i, { length }) => ((date - from) / (to - from)) * length - i)
  expect([Math.min(...places) < 0.5, Math.max(...places) > 0.5]).toEqual([true, true])
})

test('the proof of a module accepts one that decides by its bar', async () => {
  expect(await problemOf(() => HONEST.onBar)).toBeNull()
})

test.each([1, 2, 10, 100])(
  'the proof of a module refuses one that reads the bar %d ahead, and names a bar',
  async ahead => {
    const peeking =
      (bars: Bars): OnBar =>
      (_, bar, position) => {
        const later = bars.c[lastAtOrBefore(bars.t, bar.t) + ahead]
        if (later === undefined || later < bar.c) return position === null ? null : FLAT
        return position === null ? LONG(bar.c) : null
      }
    expect(await problemOf(peeking)).toMatch(
      /it looks ahead, .*; the first bar that differs is that of 20\d\d-/,
    )
  },
)

test('the proof of a module refuses one that knows how many bars there are', async () => {
  const knowing =
    (bars: Bars): OnBar =>
    (_, bar) =>
      bar.t === bars.t.at(-50) ? LONG(bar.c) : null
  expect(await problemOf(knowing)).toMatch(/it looks ahead/)
})

test('the proof of a module refuses one that decides by chance, or by what it saw in another run', async () => {
  let draws = 0
  const lucky: OnBar = (_, bar) => {
    draws = (draws * 16807 + 11) % 2147483647
    return draws % 97 === 0 ? LONG(bar.c) : null
  }
  expect(await problemOf(() => lucky)).toMatch(/by chance; the first bar that differs/)
  const seen = new Map<number, number>()
  const remembering: OnBar = (_, bar) => {
    seen.set(bar.t, bar.c)
    return (seen.get(bar.t + TIMEFRAME_MS) ?? 0) > bar.c ? LONG(bar.c) : null
  }
  expect(await problemOf(() => remembering)).toMatch(/keeps memory outside of its state/)
})

test('the proof of a module refuses a memory outside of its state that matters on few bars after a trade', async () => {
  const resting = (): OnBar => {
    let last = Number.NEGATIVE_INFINITY
    return (_, bar, position) => {
      const i = bar.t / TIMEFRAME_MS
      if (position !== null) return FLAT
      if (![0, 5].includes(i % 300) || i - last < 40) return null
      last = i
      return LONG(bar.c)
    }
  }
  expect(await problemOf(resting)).toMatch(/keeps memory outside of its state/)
})

test('the proof of a module refuses a maximum since the first bar, wherever in the history it matters', async () => {
  const indexOf = ({ t }: { readonly t: number }) => (t - BARS.t[0]!) / TIMEFRAME_MS
  const valueAt = (i: number) => (i >= 100 && i < 110 ? 5 : ((i * 7919) % 100) / 100)
  for (const from of [600, 1_000, 1_500, 2_000, 2_400]) {
    const since = (): OnBar => (state, bar, position) => {
      const own = state as { highest?: number }
      const i = indexOf(bar)
      own.highest = Math.max(own.highest ?? 0, valueAt(i))
      if (position !== null) return FLAT
      return i >= from && i < from + 375 && valueAt(i) > own.highest / 2 ? LONG(bar.c) : null
    }
    expect(await problemOf(since), `${from}`).toMatch(/^begun at \S+, it decides otherwise/)
  }
})

test('a module states a version of 1 to 32 letters, digits and . _ + -, and no other text or thing', () => {
  const running = (version: unknown) => () => {
    const strategy = { ...HONEST, version } as Strategy // any version that a module may state
    createEngine({ strategy, costs: FREE, funding: null, ordersFromMs: 0 })
  }
  const sound = ['1', '2026-11-23', '1.2.0-rc_1+b', 'x'.repeat(32)]
  for (const version of sound) expect(running(version), version).not.toThrow()
  const texts = ['', 'a b', '1\n', '1\n\x1b[31m', '\x9b31m', 'x'.repeat(33), 'x'.repeat(100_000)]
  for (const version of [1, undefined, null, {}, ['1'], ...texts])
    expect(running(version), JSON.stringify(version)?.slice(0, 50)).toThrow(
      /^strategy oak: version must be a text of 1 to 32 letters, digits or \. _ \+ - such as '1\.2', and it is not: correct the module$/,
    )
})
