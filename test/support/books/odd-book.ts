// A book of strategies that hardly any book has: each is one that a page could show wrongly.
import { DAY_MS, parseIsoDate } from '#core/calendar.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { dailyFrom } from '../daily.ts'
import { aLiveRecord, aNight, type HandStrategy, handSnapshot } from './hand-snapshot.ts'

const wave = (days: number, phase = 0): number[] =>
  Array.from({ length: days }, (_, i) => Math.sin(i * 1.7 + phase) / 50 + 0.0005)

const FIRST = '2023-05-01'
const atDay = (day: number): number => parseIsoDate(FIRST)! * DAY_MS + day * DAY_MS

const trades = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    ...{ entry_time: atDay(i), exit_time: atDay(i) + 36e5 },
    account_return: Math.sin(i) / 30,
  }))

const SPREAD = Array.from({ length: 40 }, (_, i) => ({
  ...{ entry_time: atDay(9 * i), exit_time: atDay(9 * i) + 36e5 * 30, account_return: Math.sin(i) / 30 },
}))
const { live, seals } = aLiveRecord(SPREAD.slice(4), '2024-05-30')

const ODD: readonly HandStrategy[] = [
  { id: 'no-day', returns: [] },
  { id: 'one-day', first: '2024-05-31', returns: [0.01] },
  { id: 'two-days', first: '2024-05-30', returns: [0.01, -0.02] },
  { id: 'ruined', first: FIRST, returns: [...wave(200), -1, ...wave(196)], trades: trades(30) },
  {
    ...{ id: 'only-open', first: '2024-02-02', returns: wave(120), marking: 'marked' },
    measured: {
      ...{ trades_checked: 0, mean_deviation_bps: null, largest_deviation_bps: null },
      ...{ trades_at_stop: 0, loss_at_stop: null },
    },
    night: { open: [{ side: 'long', entry_time: atDay(280) }] },
  },
  {
    ...{ id: 'ended', first: FIRST, returns: wave(300, 1), trades: trades(20) },
    ended: { on: '2024-02-24', reason: 'The exchange closed.' },
  },
  { id: 'huge', first: FIRST, returns: new Array(397).fill(0.123), instrument: 'ETHUSDT-PERP' }, // 10^22 %
  {
    ...{ id: 'usual', first: FIRST, returns: wave(397, 2), trades: SPREAD, marking: 'marked', live },
    ...{ verification_state: 'dual_verified', night: aNight(FIRST, wave(397, 2)) },
  },
]

/** The odd strategies, and as many others that there are `size` of them. */
export function oddBook(size = ODD.length): Snapshot {
  const others = Array.from(
    { length: size - ODD.length },
    (_, i): HandStrategy => ({
      ...{ id: `other-${i}`, name: `Other ${i}`, first: FIRST, returns: wave(97 + i, i), trades: trades(5) },
      verification_state: i % 2 === 0 ? 'dual_verified' : 'single_verified',
    }),
  )
  const made = handSnapshot([...ODD, ...others], { name: 'Odd', synthetic: true, seals }, [
    { instrument: 'BTCUSDT-PERP', daily: dailyFrom(FIRST, wave(400, 4)) },
  ])
  const strategies = made.strategies.map(each =>
    each.daily.values.length === 0 ? { ...each, window: { from: null, to: null } } : each,
  )
  return { ...made, strategies }
}
