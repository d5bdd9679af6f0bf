// What the laws of the resources and of the snapshot format are tried on.
import fc from 'fast-check'
import { DAY_MS, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import type { SealsRecord } from '#core/contract/payloads/live.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { SIDES } from '#core/dataset/snapshot-files.ts'
import type { OpenedSignals } from '#core/figures/live-figures.ts'
import { EXIT_REASONS } from '#core/replay/trade.ts'
import { type HandStrategy, type HandTrade, handSnapshot } from './hand-snapshot.ts'

const FIRST_DAY = 19_700 // somewhere in December 2023; a few weeks on either side of New Year

/** A day that ruins no strategy at five times base risk, many of them nothing, and a few that do ruin at that level. */
const aReturn = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: -0.15, max: 0.2, noNaN: true }) },
  { weight: 3, arbitrary: fc.constantFrom(0, 0.01, -0.01) },
)
const aFatalReturn = fc.constantFrom(-0.3, -0.7, -1)

const returns = fc.array(
  fc.oneof({ weight: 60, arbitrary: aReturn }, { weight: 1, arbitrary: aFatalReturn }),
  { minLength: 1, maxLength: 90 },
)

const maybe = (arbitrary: fc.Arbitrary<number>): fc.Arbitrary<number> =>
  fc.oneof(arbitrary, fc.constant(Number.NaN))

const aTrade: fc.Arbitrary<HandTrade> = fc
  .record({
    side: fc.constantFrom(...SIDES),
    day: fc.nat(80),
    hours: fc.integer({ min: 1, max: 200 }),
    entry_price: fc.double({ min: 1, max: 1e5, noNaN: true }),
    exit_price: fc.double({ min: 1, max: 1e5, noNaN: true }),
    exit_reason: fc.constantFrom(...EXIT_REASONS),
    account_return: fc.oneof(fc.double({ min: -1, max: 1, noNaN: true }), fc.constant(0)),
    leverage: maybe(fc.double({ min: 0.01, max: 15, noNaN: true })),
    stop: maybe(fc.double({ min: 1, max: 1e5, noNaN: true })),
  })
  .map(({ day, hours, ...trade }) => {
    const entry_time = (FIRST_DAY + day) * DAY_MS
    return { ...trade, entry_time, exit_time: entry_time + hours * 3_600_000 }
  })

/** Live from the first day on, with signals within half an hour of some entries, and none on one day. */
const liveOf = ({ trades }: { readonly trades: readonly HandTrade[] }): OpenedSignals => ({
  bar_minutes: 240,
  signals: trades.map(({ side = 'long', entry_time }, i) => ({
    ...{ n: 2 + i, seq: 1 + i, action: side, mode: 'LIVE', timestamp: entry_time },
    ...{
      by: i % 3 === 2 ? 'operator:ada' : 'strategy',
      sealed: entry_time + 600_000 * (1 + (i % 3)),
      stamped: null,
    },
  })),
  events: [
    { n: 1, event: 'live', alias: 's0', at: 0, by: 'operator:ada', why: null, sealed: FIRST_DAY * DAY_MS },
  ],
})

const SEALS: SealsRecord = {
  ...{ since: toIsoInstant((FIRST_DAY - 1) * DAY_MS), opened_to: toIsoDate(FIRST_DAY + 100), seals: 9 },
  ...{ newest: null, gaps: [], lost: [], skipped: [], stamped_by: null, absent: [], origins: [] },
}

const aStrategy: fc.Arbitrary<Omit<HandStrategy, 'id'>> = fc
  .record({
    name: fc.string({ unit: 'binary', maxLength: 12 }),
    blurb: fc.option(fc.string({ unit: 'grapheme', maxLength: 12 }), { nil: null }),
    first: fc.nat(40).map(offset => toIsoDate(FIRST_DAY + offset)),
    base_risk_pct: fc.constantFrom(0.02, 0.03, 0.05),
    tick_size: fc.constantFrom(0.1, 0.25, 1),
    leverage_typical: fc.option(fc.double({ min: 0.1, max: 15, noNaN: true }), { nil: null }),
    returns,
    trades: fc.array(aTrade, { maxLength: 6 }),
    isLive: fc.boolean(),
  })
  .map(({ isLive, ...strategy }) => ({ ...strategy, live: isLive ? liveOf(strategy) : null }))

/** Datasets of one to four strategies `s0`, `s1`, ... with different starts, lengths and base risks. */
export const anySnapshot: fc.Arbitrary<Snapshot> = fc
  .array(aStrategy, { minLength: 1, maxLength: 4 })
  .map(strategies =>
    handSnapshot(
      strategies.map((strategy, i) => ({ id: `s${i}`, ...strategy })),
      { seals: SEALS },
    ),
  )

/** Risk levels from far below base to above the cap of 0.1. */
export const anyRisk = fc.double({ min: 1e-4, max: 0.2, noNaN: true })
