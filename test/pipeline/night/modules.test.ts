import { expect, test, vi } from 'vitest'
import { STALL_MS } from '#pipeline/modules/processes.ts'
import {
  aLedger,
  aModule,
  catalogue,
  csv,
  dailyBars,
  moduleText,
  nightOf,
  problemsOfNight,
} from './night-book.ts'

const BARS = { 'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 101, 102, 103]) }

/** Modules that are wrong in one way each: the source, and what the operator has to read. */
const BROKEN: Readonly<Record<string, { readonly text: string; readonly says: string | RegExp }>> = {
  import_throws: {
    text: `throw new Error('no such table')`,
    says: 'strategies/import_throws.ts:1:7: no such table',
  },
  does_not_parse: {
    text: '// The third line\n// is wrong.\nexport const = 1',
    says: /^strategies\/does_not_parse\.ts:3: SyntaxError: /,
  },
  no_export: {
    text: 'export const other = 1',
    says: 'strategies/no_export.ts: a strategy module exports `strategy`, an object with init() and onBar(); this one does not',
  },
  init_throws: {
    text: moduleText('init_throws', { body: `init: () => { throw new RangeError('no room') },` }),
    says: /^strategies\/init_throws\.ts:\d+:\d+: RangeError: no room$/,
  },
  bar_throws: {
    text: moduleText('bar_throws', { body: 'onBar: state => state.window.length,' }),
    says: /^strategies\/bar_throws\.ts:\d+:\d+: at the bar of 2024-01-01T00:00:00Z: TypeError: .*undefined.*'length'/,
  },
  throws_text: {
    text: moduleText('throws_text', { body: `onBar: () => { throw 'a text' },` }),
    says: `strategies/throws_text.ts: at the bar of 2024-01-01T00:00:00Z: it threw a value that is not an Error: a text`,
  },
  throws_silence: {
    text: moduleText('throws_silence', { body: 'onBar: () => { throw new Error() },' }),
    says: /^strategies\/throws_silence\.ts:\d+:\d+: at the bar of \S+ it threw an Error without a message$/,
  },
  throws_unsendable: {
    text: moduleText('throws_unsendable', { body: 'onBar: () => { throw { act: () => 1 } },' }),
    says: /^strategies\/throws_unsendable\.ts: at the bar of \S+ it threw a value that is not an Error: \{\}$/,
  },
  other_id: {
    text: moduleText('oak'),
    says: 'strategies/other_id.ts: id: other_id in the catalogue, oak in the module',
  },
  other_timeframe: {
    text: moduleText('other_timeframe', { body: 'timeframeMs: 3_600_000,' }),
    says: 'strategies/other_timeframe.ts: timeframeMs: 86400000 in the catalogue, 3600000 in the module',
  },
  other_risk: {
    text: moduleText('other_risk', { body: 'baseRisk: 0.05,' }),
    says: 'strategies/other_risk.ts: baseRisk: 0.02 in the catalogue, 0.05 in the module',
  },
  exits: {
    text: moduleText('exits', { body: 'onBar: () => process.exit(0),' }),
    says: /^strategies\/exits\.ts:\d+:\d+: at the bar of \S+ ReferenceError: process is not defined$/,
  },
  says_rubbish: {
    text: moduleText('says_rubbish', { body: `onBar: () => ({ act: 'buy' }),` }),
    says: 'strategies/says_rubbish.ts: strategy says_rubbish: at the bar of 2024-01-01T00:00:00Z it decided {"act":"buy"}: a decision must be null, or have `act` long, short or flat',
  },
  says_nothing: {
    text: moduleText('says_nothing', { body: 'onBar: () => undefined,' }),
    says: /^strategies\/says_nothing\.ts: strategy says_nothing: at the bar of .*a decision must be null/,
  },
  is_async: {
    text: moduleText('is_async', { body: 'onBar: async () => null,' }),
    says: /^strategies\/is_async\.ts: strategy is_async: at the bar of .*a decision must be null/,
  },
  stop_above: {
    text: moduleText('stop_above', { body: `onBar: (state, bar) => ({ act: 'long', stop: bar.c + 1 }),` }),
    says: /^strategies\/stop_above\.ts: .*the stop of a long must be above 0 and below the close 100, it is 101$/,
  },
  loses_a_promise: {
    text: moduleText('loses_a_promise', {
      body: `init: () => { Promise.reject(new Error('lost')); return {} },`,
    }),
    says: /^strategies\/loses_a_promise\.ts:\d+:\d+: lost$/,
  },
}

test('every module that is wrong is named with its file and the fault, all of them at once, beside a bad ledger', async () => {
  const ids = Object.keys(BROKEN)
  const files = Object.fromEntries(ids.map(id => [`strategies/${id}.ts`, BROKEN[id]!.text]))
  const problems = await problemsOfNight(
    {
      ...BARS,
      ...files,
      'strategies/sound.ts': moduleText('sound'),
      'ledgers/outside.csv': csv(
        'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage',
        'long,2024-01-02T00:00:00Z,100,2024-01-03T00:00:00Z,999,signal,1',
      ),
      'catalogue.yaml': catalogue([...ids.map(aModule), aModule('sound'), aLedger('outside')]),
    },
    { threads: 2 },
  )
  for (const id of ids) {
    const ofModule = problems.filter(problem => problem.startsWith(`strategies/${id}.ts`))
    expect(ofModule, id).toEqual([
      typeof BROKEN[id]!.says === 'string' ? BROKEN[id]!.says : expect.stringMatching(BROKEN[id]!.says),
    ])
  }
  expect(problems.at(-1)).toMatch(/^ledgers\/outside\.csv:2: the trade has its exit at 999, outside the bar/)
  expect(problems).toHaveLength(ids.length + 1)
})

test('what a module prints goes to stderr and never to stdout', async () => {
  const out = listenTo(process.stdout)
  const err = listenTo(process.stderr)
  try {
    await nightOf({
      ...BARS,
      'strategies/oak.ts': moduleText('oak', {
        body: `init: () => { console.log('hello there'); return {} },`,
      }),
      'catalogue.yaml': catalogue([aModule('oak')]),
    })
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
