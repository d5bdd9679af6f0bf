import { expect, test } from 'vitest'
import {
  INFERENCE_MIN_RETURN,
  type ResolvedTrade,
  resolveTrade,
  sumFunding,
  type TradeTerms,
} from '#core/replay/resolve-trade.ts'
import type { Trade } from '#core/replay/trade.ts'
import { handBars, handFunding, slot, still, trade } from './hand.ts'

const TERMS: TradeTerms = {
  feeRate: 0.001,
  baseRisk: 0.02,
  maxLeverage: 15,
  funding: sumFunding(handBars([still(100)]), null),
}

const resolved = (change: Partial<Trade>, terms: Partial<TradeTerms> = {}): ResolvedTrade => {
  const result = resolveTrade(trade(change), { ...TERMS, ...terms })
  if (typeof result === 'string') throw new Error(result)
  return result
}

// Long 100 to 110: 0.1 before costs, commission 0.001 * (1 + 1.1) = 0.0021, so 0.0979 per unit of notional.
const PER_NOTIONAL = 0.0979

test('the leverage of a trade is first of all the one in the ledger', () => {
  expect(resolved({ leverage: 3, stop: 90, account_return: 0.0979 })).toMatchObject({
    leverage: 3,
    account_return: 0.0979,
    return_per_notional: 0.0979 / 3,
  })
})

test('the leverage of a trade is else the risk over the distance of the stop from the entry', () => {
  // 0.02 * 100 / |100 - 90|.
  expect(resolved({ stop: 90, account_return: 0.0979 }).leverage).toBe(0.2)
  expect(resolved({ side: 'short', stop: 110 }).leverage).toBe(0.2)
})

test('the leverage of a trade is else inferred from the account return before costs and funding', () => {
  const inferred = resolved({ account_return: 2 * PER_NOTIONAL })
  expect(inferred.leverage).toBeCloseTo(2, 12)
  expect(inferred.return_per_notional).toBeCloseTo(PER_NOTIONAL, 14)
})

test('the leverage of a trade is unknown if the return per notional is too small to infer it', () => {
  // Just inside and just outside the bound: exit = 100 * (1 + r + fee) / (1 - fee).
  const exitFor = (perNotional: number): number => (100 * (1 + perNotional + 0.001)) / (1 - 0.001)
  const outside = resolved({ exit_price: exitFor(INFERENCE_MIN_RETURN * 1.001), account_return: 0.02 })
  const inside = resolved({ exit_price: exitFor(INFERENCE_MIN_RETURN * 0.999), account_return: 0.02 })
  expect(outside.leverage).toBeCloseTo(0.02 / (INFERENCE_MIN_RETURN * 1.001), 10)
  expect(inside).toMatchObject({ leverage: null, account_return: 0.02 })
})

test('the leverage of a trade is unknown if the account return contradicts the prices, implies more than the cap, or is a ruin', () => {
  expect(resolved({ account_return: -0.05 }).leverage).toBeNull()
  expect(resolved({ account_return: 16 * PER_NOTIONAL }).leverage).toBeNull()
  expect(resolved({ account_return: 0 }).leverage).toBeNull()
  const ruined = { exit_price: 50, exit_reason: 'liquidation' as const, account_return: -1 } // a floor and no measurement
  expect(resolved(ruined)).toMatchObject({ leverage: null, account_return: -1 })
})

test('the leverage of a trade is not taken from a stop that implies more than the cap, or that is at the entry', () => {
  expect(resolved({ stop: 99.9, account_return: PER_NOTIONAL }).leverage).toBeCloseTo(1, 12)
  expect(resolved({ stop: 100, account_return: PER_NOTIONAL }).leverage).toBeCloseTo(1, 12)
})

test('the account return is else leverage x prices less both commissions', () => {
  expect(resolved({ leverage: 3 }).account_return).toBeCloseTo(3 * PER_NOTIONAL, 14)
  // Short 100 to 110: -0.1 - 0.0021.
  expect(resolved({ side: 'short', leverage: 3 }).account_return).toBeCloseTo(3 * -0.1021, 14)
})

test('the account return includes the funding after the entry and up to the exit', () => {
  const bars = handBars([still(90), still(100), still(120), still(130)])
  // At slot 2 the last close is 100, at slot 3 it is 120. At slot 1, the entry, and after slot 3 nothing is due.
  const events = [slot(1), slot(2), slot(3), slot(3) + 1].map(t => [t, 0.01] as const)
  const funding = sumFunding(bars, handFunding(...events))
  const paid = 0.01 * (100 / 100) + 0.01 * (120 / 100)
  expect(resolved({ leverage: 1 }, { funding }).account_return).toBeCloseTo(PER_NOTIONAL - paid, 14)
  expect(resolved({ leverage: 1, side: 'short' }, { funding }).account_return).toBeCloseTo(-0.1021 + paid, 14)
})

test('the account return of a liquidation is exactly -1, and nothing is ever below it', () => {
  expect(resolved({ leverage: 2, exit_reason: 'liquidation' }).account_return).toBe(-1)
  expect(resolved({ leverage: 12, exit_price: 80 })).toMatchObject({
    account_return: -1,
    exit_reason: 'liquidation',
  })
  expect(resolved({ leverage: 2, account_return: -1.5 }).account_return).toBe(-1)
})

test('the account return of an open trade is null', () => {
  const open = { exit_time: null, exit_price: null, exit_reason: null }
  const none = { account_return: null, return_per_notional: null }
  expect(resolved({ ...open, stop: 90 })).toMatchObject({ leverage: 0.2, ...none })
  expect(resolved(open)).toMatchObject({ leverage: null, return_per_notional: null })
})

test('the return per unit of notional is from prices and commission if the leverage is unknown', () => {
  const unknown = resolved({ exit_price: 100.5, account_return: 0.02 })
  expect(unknown.leverage).toBeNull()
  // 0.005 - 0.001 * (1 + 1.005).
  expect(unknown.return_per_notional).toBeCloseTo(0.002995, 14)
})
