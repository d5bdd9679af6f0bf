// What is found in a ledger as a whole.
import { expect, test } from 'vitest'
import type { Trade } from '#core/replay/trade.ts'
import { checkTrades } from '#pipeline/report/trade-checks.ts'
import { walk } from './walk.ts'

const BARS = walk(400)
const HOURS_4 = BARS.timeframeMs
const GROUND = { bars: BARS, maxLeverage: 15, slippage: 0.2, nowMs: BARS.t.at(-1)! + HOURS_4 }

/** Twenty longs of two bars that enter and exit at the opens of bars; `shift` moves their times. */
const ledger = (shift = 0, changes: Partial<Trade> = {}): Trade[] =>
  Array.from({ length: 20 }, (_, i) => ({
    side: 'long',
    entry_time: BARS.t[10 * i + 5]! + shift,
    entry_price: BARS.o[10 * i + 5]!,
    exit_time: BARS.t[10 * i + 7]! + shift,
    exit_price: BARS.o[10 * i + 7]!,
    exit_reason: 'signal',
    leverage: 1,
    stop: null,
    account_return: null,
    ...changes,
  }))

const found = (trades: readonly Trade[], ground: Partial<typeof GROUND> = {}) =>
  checkTrades(trades, { ...GROUND, ...ground }).map(({ severity, code, count }) => [severity, code, count])

test('a sound ledger gives no finding', () => {
  expect(found(ledger())).toEqual([])
  expect(found([])).toEqual([])
})

test('a leverage of 95 under a cap of 15 is blocking, and names the cap and the largest', () => {
  const trades = ledger().with(3, { ...ledger()[3]!, leverage: 95 })
  expect(found(trades)).toEqual([['blocking', 'leverage_over_cap', 1]])
  expect(checkTrades(trades, GROUND)[0]?.what).toContain('at most 15, the max_leverage of the strategy')
  expect(checkTrades(trades, GROUND)[0]?.what).toContain('the largest 95')
})

test('a leverage that is over the cap by the move between decision and fill is none', () => {
  expect(found(ledger(0, { leverage: 15.3 }))).toEqual([])
})

test('trades of the future are blocking, also one that only exits there', () => {
  expect(found(ledger(), { nowMs: BARS.t[10]! })).toEqual([['blocking', 'future_trades', 19]])
  expect(found(ledger(), { nowMs: BARS.t[196]! })).toEqual([['blocking', 'future_trades', 1]])
})

test('a repeated trade is serious, and a partial exit of the same entry is none', () => {
  const [first, ...others] = ledger()
  expect(found([first!, first!, ...others])).toEqual([['serious', 'duplicate_trades', 1]])
  const partial = { ...first!, exit_time: first!.exit_time! + HOURS_4 }
  expect(found([first!, partial, ...others])).toEqual([])
})

test.each([
  ['8 hours earlier', 8 * 3_600_000],
  ['one bar earlier', HOURS_4],
  ['one bar later', -HOURS_4],
  ['5.5 hours earlier', 5.5 * 3_600_000],
])('entries at the opens of bars %s are serious', (shift, moved) => {
  const [finding] = checkTrades(ledger(moved), GROUND)
  expect([finding?.severity, finding?.code]).toEqual(['serious', 'shifted_labels'])
  expect(finding?.what).toContain(`got 100 % of them at opens ${shift}`)
})

test('entries inside of bars are no shift', () => {
  expect(found(ledger(600_000, { entry_price: 10_000 }))).toEqual([])
})
