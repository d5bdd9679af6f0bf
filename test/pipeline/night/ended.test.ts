// A strategy that is over, one that has stopped trading, and the digest of the files of a module.
import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { DAY_MS, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import { createFleetComputer, createTaskComputer } from '#fleet/compute.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import type { Night } from '#pipeline/night/compute-snapshot.ts'
import { idleSince } from '#pipeline/night/compute-strategy.ts'
import { lastDayOf } from '#pipeline/night/data-window.ts'
import { examineBook } from '#pipeline/night/examine-book.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { withFiles } from '#test/support/temporary-folder.ts'
import { problemsIn } from '../book/book-folder.ts'
import {
  aLedger,
  aModule,
  catalogue,
  dailyBars,
  dailyReturns,
  FIRST_DAY,
  moduleText,
  nightOf,
  ONE_TRADE,
  reported,
} from './night-book.ts'

const CLOSES = [100, 101, 102, 103, 103, 103, 103, 103, 104, 105, 106, 107, 108, 109]
const ended = (on: string) => ({ ended: { on, reason: 'the exchange closed' } })
const MARKET = {
  'bars/BTCUSDT-PERP/1d.csv': dailyBars(CLOSES),
  'bars/ETHUSDT-PERP/1d.csv': dailyBars(CLOSES.slice(0, 9)),
  'strategies/oak.ts': moduleText('oak'),
  'strategies/elm.ts': moduleText('elm'),
  'ledgers/ash.csv': ONE_TRADE,
  'returns/yew.csv': dailyReturns(CLOSES.map(() => 0.01)),
}
const elm = { ...aModule('elm'), instrument: 'ETHUSDT-PERP' }
const bookOf = (...strategies: Parameters<typeof catalogue>[0]) => ({
  ...MARKET,
  'catalogue.yaml': catalogue(strategies),
})

const ON = '2024-01-09'
const OVER = bookOf(
  { ...aModule('oak'), ...ended(ON) },
  { ...aLedger('ash'), mark: '1d', ...ended(ON) },
  { ...reported('yew'), ...ended(ON) },
  aModule('elm'),
)

let over: Night

beforeAll(async () => {
  over = await nightOf(OVER)
})

test('the history of a strategy ends on the day that its catalogue states, whatever it is made from', () => {
  const ends = over.snapshot.strategies.map(({ id, window, ended }) => [id, window.to, ended?.reason ?? null])
  expect(ends).toEqual([
    ['elm', '2024-01-14', null],
    ['oak', ON, 'the exchange closed'],
    ['ash', ON, 'the exchange closed'],
    ['yew', ON, 'the exchange closed'],
  ])
})

test('an ended module has the same days as one that goes on, up to its end, and the equal-weight book has it until then', async () => {
  const going = await nightOf(bookOf(aModule('oak'), aModule('elm')))
  const days = (night: Night) => night.snapshot.strategies.find(({ id }) => id === 'oak')!.daily.values
  expect([...days(over)]).toEqual([...days(going)].slice(0, 9))
  expect(over.snapshot.book.values.coverage).toMatchObject({
    days_with_all: 9,
    fewest_strategies: 1,
    to: '2024-01-14',
  })
})

/** A fleet of one worker, in this process. */
async function onFleet(files: Readonly<Record<string, string>>) {
  const computer = createTaskComputer({ threads: 1, elapsedMs: () => performance.now() })
  const shared = new Map<string, Uint8Array>()
  const share = async (bytes: Uint8Array) => {
    const digest = createHash('sha256').update(bytes).digest('hex')
    shared.set(digest, bytes)
    return digest
  }
  const read = async (digest: string) => shared.get(digest)!
  const fleet = createFleetComputer({
    share,
    run: async ({ phase, tasks, take }) => {
      const work = computer[phase === 'compute' ? phase : 'correlate']
      for (const { id, input } of tasks) take(id, { worker: '', ...(await work(input(), { read })) }, '')
    },
  })
  return nightOf(files, { fleet }).finally(computer.close)
}

test('a fleet computes ended strategies and those that go on, on the same bars, as one machine does', async () => {
  const { snapshot } = await onFleet(OVER)
  expect(snapshot.strategies).toEqual(over.snapshot.strategies)
})

const NOW = (FIRST_DAY + 14) * DAY_MS

const windowEnd = async (...strategies: Parameters<typeof catalogue>[0]) => {
  const options = { nowMs: NOW, asOf: null, allowStale: false }
  const book = await withFiles(bookOf(...strategies), dir => readBook(dir, examineBook(options)))
  return toIsoDate(lastDayOf(book, options))
}

test('bars that only ended strategies use may end with them, and those of others may not', async () => {
  const stale = expect.stringContaining('bars/ETHUSDT-PERP/1d.csv: the newest bar ends at 2024-01-10')
  expect(await problemsIn(windowEnd(aModule('oak'), elm))).toEqual([stale])
  const missing = expect.stringContaining('expected strategies/fir.ts, got no such file')
  expect(await problemsIn(windowEnd(aModule('oak'), { ...elm, id: 'fir' }))).toEqual([stale, missing])
  expect(await windowEnd(aModule('oak'), { ...elm, ...ended('2024-01-09') })).toBe('2024-01-14')
  expect(await windowEnd({ ...elm, ...ended('2024-01-08') })).toBe('2024-01-08')
})

const COVERED = 'a day that bars/ETHUSDT-PERP/1d.csv covers whole, 2024-01-01 to 2024-01-09, got'

test.each(casesOf<[string, object, string]>`
after its bars -> ${ended('2024-01-10')} -> ${COVERED} 2024-01-10
before its bars -> ${ended('2023-12-31')} -> ${COVERED} 2023-12-31
without a reason -> ${{ instrument: 'BTCUSDT-PERP', ended: { on: '2024-01-09' } }} -> a day and a public reason, such as`)(
  'an end %s is reported at its line in the catalogue, with what was expected',
  async (_, end, what) => {
    const problems = await problemsIn(windowEnd(aModule('oak'), { ...elm, ...end }))
    expect(problems).toEqual([expect.stringContaining(`strategies[1].ended: expected ${what}`)])
  },
)

const FIRST = parseIsoDate('2024-01-01')!
const at = (day: number): number => (FIRST + day) * DAY_MS
/** Since when a history of so many days is idle, with trades from one day to another; null is open. */
const idle = (days: number, ...trades: readonly (readonly [from: number, to: number | null])[]) =>
  idleSince(
    { period: 'daily', first: FIRST, values: new Float64Array(days) },
    trades.map(([from, to]) => ({ entry_time: at(from), exit_time: to === null ? null : at(to) })),
  )

test('a strategy is idle after more than 90 days without a trade, if it never paused for as long before', () => {
  expect(idle(100, [1, 9])).toBe('2024-01-10')
  expect(idle(99, [1, 9])).toBeNull()
  expect(idle(300, [1, 9], [130, 140])).toBe('2024-05-20')
  expect(idle(261, [1, 9], [130, 140])).toBeNull()
  expect([idle(300, [1, null]), idle(300, [1, null], [2, 3]), idle(300)]).toEqual([null, null, null])
})

test('the digest of a module is what sha256sum prints for its files, and its comments count', async () => {
  const modules = {
    'strategies/oak.ts': `import { half } from './lib/half.ts'\n${moduleText('oak').replace('bar.c / 2', 'bar.c * half')}`,
    'strategies/lib/half.ts': 'export const half = 0.5\n',
  }
  const digestOf = async (changes: Readonly<Record<string, string>> = {}) =>
    (
      await nightOf({ ...bookOf(aModule('oak'), reported('yew')), ...modules, ...changes })
    ).snapshot.strategies.map(({ rules_sha256 }) => rules_sha256)
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const listed = ['lib/half.ts', 'oak.ts']
    .map(path => `${sha256(modules[`strategies/${path}` as keyof typeof modules])}  ${path}\n`)
    .join('')
  expect(await digestOf()).toEqual([sha256(listed), null])
  const [commented] = await digestOf({
    'strategies/lib/half.ts': 'export const half = 0.5 // of the price\n',
  })
  expect(commented).not.toBe(sha256(listed))
})
