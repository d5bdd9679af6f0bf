import { expect, test } from 'vitest'
import { type BuildSummary, printSummary, yearlyReturns } from '#cli/build/build-summary.ts'
import { createStopwatch } from '#cli/build/build-version.ts'
import { createTerminal } from '#cli/print/terminal.ts'
import type { ProgressEvent } from '#core/progress.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'
import { createStream } from '../made-up.ts'

const SUMMARY: BuildSummary = {
  version: '2026-11-21T00:15:00Z',
  manifest_sha256: 'abc',
  window: { from: '2024-01-01', to: '2026-11-19' },
  strategies: [
    {
      ...{ id: 'ash', verification_state: 'dual_verified', days: 1054, trades: 37 },
      ...{ net_return_pct: 123.456, max_drawdown_pct: -20.5, sharpe_daily_annualized: 1.2 },
    },
    {
      ...{ id: 'yew', verification_state: 'unverified', days: 2, trades: 0 },
      ...{ net_return_pct: 0, max_drawdown_pct: 0, sharpe_daily_annualized: null },
    },
  ],
  program: null,
  data: [],
  yearly_returns_pct: [
    { strategy: 'ash', 2025: 12.345, 2026: -3.1 },
    { strategy: 'yew', 2025: null, 2026: 0 },
  ],
  gaps: { 'BTCUSDT-PERP/1d': 1 },
  artifacts: { count: 46, bytes: 3_500_000, br_bytes: 51_200, gzip_bytes: 1_048_576 },
  timings_ms: { read: 40, compute: 1_260, publish: 900 },
  fleet: null,
  live: null,
  missing_bars: [],
}

function printed(summary: BuildSummary): string {
  const [out, err] = [createStream(), createStream()]
  printSummary(summary, createTerminal({ out, err, elapsedMs: () => 0 }))
  expect(err.text()).toBe('')
  return out.text()
}

test('the summary for people has the strategies, their years, the artifacts and the time, in columns, from which an id of the greatest length stays apart', () => {
  expect(printed(SUMMARY)).toBe(
    [
      'published 2026-11-21T00:15:00Z   2024-01-01 to 2026-11-19',
      '',
      'strategy              verified        days      trades       net %  drawdown %      Sharpe',
      'ash                       dual        1054          37      123.46      -20.50        1.20',
      'yew                 unverified           2           0        0.00        0.00           -',
      '',
      'year %                 2025     2026',
      'ash                   12.35    -3.10',
      'yew                       -     0.00',
      '',
      '46 artifacts: 3.3 MB plain, 50 kB brotli, 1.0 MB gzip',
      'read 0.0 s, compute 1.3 s, publish 0.9 s',
      '',
    ].join('\n'),
  )
  const [ash] = SUMMARY.strategies
  const id = 'x'.repeat(64)
  expect(printed({ ...SUMMARY, strategies: [{ ...ash!, id }] })).toContain(`${id}        dual  `)
})

test('the summary prints a program in one line, if the book has one', () => {
  const program = {
    ...{ alias: 'accumulation', deployment_state: 'accumulating' as const, deployments: 618 },
    ...{ avg_cost_basis: 6140.561221, pct_deployed: 83.775811, pct_cheaper_than_dca: -0.548052 },
    ...{ rolling_win_rate_pct: null },
  }
  expect(printed({ ...SUMMARY, program })).toContain(
    'program accumulation: accumulating, 618 deployments at 6140.56 on average, 83.78 % deployed, ' +
      '0.55 % dearer than dca; cheaper in - % of rolling years\n\n46 artifacts',
  )
  expect(printed(SUMMARY)).not.toContain('program')
})

const near = (value: number) => expect.closeTo(value, 10)

test('the years of all strategies stand side by side, in catalogue order, null where a strategy has no day', async () => {
  const { strategies } = handSnapshot([
    { id: 'young', first: '2024-12-31', returns: [0.5, -0.1] },
    { id: 'old', first: '2022-12-30', returns: [0.1, 0.1, 0.25] },
    { id: 'between', first: '2023-01-01', returns: [-0.5] },
  ])
  const rows = await yearlyReturns(strategies)
  expect(rows).toEqual([
    { strategy: 'young', 2022: null, 2023: null, 2024: near(50), 2025: near(-10) },
    { strategy: 'old', 2022: near(21), 2023: near(25), 2024: null, 2025: null },
    { strategy: 'between', 2022: null, 2023: near(-50), 2024: null, 2025: null },
  ])
  for (const row of rows) expect(Object.keys(row)).toEqual(['2022', '2023', '2024', '2025', 'strategy'])
})

/** A clock that stands until it is moved. */
function aClock() {
  let now = 1_000
  const pass = (ms: number): void => {
    now += ms
  }
  return { elapsed: () => now, pass }
}

const event = (step: string): ProgressEvent => ({ step, done: 0, total: 1, unit: 'blocks' })

test('the stopwatch adds up steps of progress events by their first word, in the order in which they began, rounds the sums, and passes the events on', () => {
  const { elapsed, pass } = aClock()
  const watch = createStopwatch(elapsed, 'read')
  const steps: string[] = []
  const progress = watch.follow(({ step }) => steps.push(step))
  const order = 'verify, correlate daily, correlate daily, correlate weekly, verify, compute'
  for (const step of order.split(', ')) {
    progress(event(step))
    pass(10.3)
  }
  expect(JSON.stringify(watch.end())).toBe('{"read":0,"verify":21,"correlate":31,"compute":10}')
  expect(steps).toHaveLength(6)
})
