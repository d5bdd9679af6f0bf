import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { DEFAULT_PARAMS } from '#core/contract/parameters.ts'
import type { SealsRecord } from '#core/contract/payloads/live.ts'
import { renderAnswer } from '#core/dataset/resources/render-answer.ts'
import type { OpenedSignals } from '#core/figures/live-figures.ts'
import { handSnapshot } from '../../../support/books/hand-snapshot.ts'
import { readCsv, readLive, readTrades } from './evaluate.ts'
import { BINARY_FORMATS, readTable } from './read-columns.ts'

const START = Date.UTC(2024, 0, 1)
const hour = (hours: number): number => START + (hours * DAY_MS) / 24

const LIVE: OpenedSignals = {
  bar_minutes: 60,
  signals: [
    {
      ...{ n: 2, seq: 7, action: 'long', mode: 'LIVE', timestamp: hour(30), by: 'strategy' },
      ...{ sealed: hour(30) + 600_000, stamped: hour(31) },
    },
  ],
  events: [
    { n: 1, event: 'live', alias: 'ash', at: hour(0) - 1, by: 'operator:ada', why: null, sealed: hour(0) },
  ],
}

const SEALS: SealsRecord = {
  ...{ since: '2023-12-31T23:50:00Z', opened_to: '2024-01-10', seals: 1440, gaps: [], lost: [], skipped: [] },
  ...{ stamped_by: 'TSA', absent: ['yew'] },
  origins: [{ origin: 'highwater/0123456789abcdef/20231231T235000Z', n: 1 }],
  newest: { n: 1440, digest: `${'A'.repeat(43)}=` },
}

const trade = (from: number, to: number) => ({
  ...{ entry_time: hour(from), exit_time: hour(to), account_return: 0.01 },
})

const book = (synthetic = false) =>
  handSnapshot(
    [
      {
        ...{ id: 'ash', returns: new Array(12).fill(0.01), live: LIVE },
        trades: [trade(-5, 1), trade(30, 40), trade(50, 80)],
      },
      { id: 'elm', returns: [0.01], trades: [trade(1, 2)] },
    ],
    { seals: SEALS, synthetic },
  )

test('the answer of a live strategy has its figures, and beside them everything that they follow from', () => {
  const { data, meta } = readLive(book(), { sid: 'ash' })
  expect(data).toMatchObject({
    ...{ live_since: '2024-01-01T00:00:00Z', ended_on: null, bar_minutes: 60, seals: SEALS },
    ...{ signals: LIVE.signals, events: LIVE.events, days: { live: 10, sealed: 10, gaps: 0 } },
    entries: { judged: 2, sealed: 1, late: 0, missed: 1, halted: 0, by_hand: 0, unmatched: 0 },
    delay_seconds: {
      claimed: { count: 1, median: 600, p99: 600 },
      stamped: { count: 1, median: 3600, p99: 3600 },
    },
    ...{ modelled: { net_return_pct: 10.462213 }, days_left_out: 3, days_shared: 0 },
    undefined: { 'modelled/sharpe_daily_annualized': 'too_few_points' },
  })
  expect(meta.note).toContain('The fills are those of the replay')
  expect(meta.note).not.toContain('simulated')
  expect(readLive(book(true), { sid: 'ash' }).meta.note).toMatch(/^The live trading is simulated\. /)
})

test('both paths of a live record follow the risk level, and nothing else of it does', () => {
  const [base, twice] = [null, 0.04].map(risk_pct => readLive(book(), { sid: 'ash', risk_pct }))
  const withoutPaths = ({ modelled, as_sealed, ...others }: Record<string, unknown>) => others
  expect(withoutPaths(twice!.data)).toEqual(withoutPaths(base!.data))
  expect(twice!.data.modelled.net_return_pct).toBe(Number((100 * (1.02 ** 10 - 1)).toFixed(6)))
  expect(twice!.data.as_sealed.net_return_pct).toBe(Number((100 * (1.02 ** 7 - 1)).toFixed(6)))
  expect(twice!.meta).toMatchObject({ modelled: true, effective_risk_pct: 0.04 })
  expect(readLive(book(), { sid: 'ash', risk_pct: 1 }).meta.risk_pct_clamped).toBe(true)
})

test('a strategy that was never live has one sentence, and a chain beside it all the same', () => {
  const { data, meta } = readLive(book(true), { sid: 'elm' })
  expect(meta.note).toBe('elm has no live record: no live signal of it is opened.')
  expect(data).toMatchObject({ live_since: null, seals: SEALS, signals: [], events: [], days: { live: 0 } })
  expect(readLive(handSnapshot([{ id: 'elm', returns: [0] }]), { sid: 'elm' }).data.seals).toBeNull()
})

test('a trade says what became of its entry in every format, and nothing if it is not judged', () => {
  const words = [null, 'sealed', 'missed']
  expect(readTrades(book(), { sid: 'ash' }).data.map(({ live }) => live)).toEqual(words)
  expect(readTrades(book(), { sid: 'elm' }).data.map(({ live }) => live)).toEqual([null])
  const { header, rows } = readCsv('trades', book(), { sid: 'ash' })
  expect(rows.map(row => row[header.indexOf('live')])).toEqual(['', 'sealed', 'missed'])
  for (const format of BINARY_FORMATS) {
    const { bytes } = renderAnswer('trades', book(), { ...DEFAULT_PARAMS, sid: 'ash', format })
    const table = readTable(format, bytes)
    expect(table.rows.map(row => row[table.header.indexOf('live')])).toEqual(words)
  }
})
