import { expect, test } from 'vitest'
import {
  INFERENCE_MIN_RETURN,
  type ResolvedTrade,
  resolveTrade,
  sumFunding,
  type TradeTerms,
} from '#core/replay/resolve-trade.ts'
import type { Trade } from '#core/replay/trade.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { near } from '#test/support/near.ts'
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

/** The exit whose return per unit of notional is this one: 100 * (1 + r + fee) / (1 - fee). */
const exitFor = (perNotional: number): number => (100 * (1 + perNotional + 0.001)) / (1 - 0.001)

const RUINED = { exit_price: 50, exit_reason: 'liquidation', account_return: -1 }
const OPEN = { exit_time: null, exit_price: null, exit_reason: null }

test.each(casesOf<[string, Partial<Trade>, object]>`
that the ledger gives -> ${{ leverage: 3, stop: 90, account_return: 0.0979 }} -> ${{ leverage: 3, account_return: 0.0979, return_per_notional: 0.0979 / 3 }}
of the risk over the distance of its stop -> ${{ stop: 90, account_return: 0.0979 }} -> ${{ leverage: 0.2 }}
of the risk over the distance of the stop of a short -> ${{ side: 'short', stop: 110 }} -> ${{ leverage: 0.2 }}
of its account return over that of its prices -> ${{ account_return: 2 * PER_NOTIONAL }} -> ${{ leverage: 2, return_per_notional: PER_NOTIONAL }}
of a return of the prices that is just large enough -> ${{ exit_price: exitFor(1.001 * INFERENCE_MIN_RETURN), account_return: 0.02 }} -> ${{ leverage: 0.02 / (1.001 * INFERENCE_MIN_RETURN) }}
that no return of the prices that is too small gives -> ${{ exit_price: exitFor(0.999 * INFERENCE_MIN_RETURN), account_return: 0.02 }} -> ${{ leverage: null, account_return: 0.02 }}
that is unknown, and its return per notional from prices and commission -> ${{ exit_price: 100.5, account_return: 0.02 }} -> ${{ leverage: null, return_per_notional: 0.005 - 0.001 * 2.005 }}
that is unknown where the account return contradicts the prices -> ${{ account_return: -0.05 }} -> ${{ leverage: null }}
that is unknown where the account return implies more than the cap -> ${{ account_return: 16 * PER_NOTIONAL }} -> ${{ leverage: null }}
that is unknown where the account return is nothing -> ${{ account_return: 0 }} -> ${{ leverage: null }}
that no ruin gives, a floor and no measurement -> ${RUINED} -> ${{ leverage: null, account_return: -1 }}
that no stop gives which implies more than the cap -> ${{ stop: 99.9, account_return: PER_NOTIONAL }} -> ${{ leverage: 1 }}
that no stop gives which is at the entry -> ${{ stop: 100, account_return: PER_NOTIONAL }} -> ${{ leverage: 1 }}
with which its account return is that of the prices less both commissions -> ${{ leverage: 3 }} -> ${{ account_return: 3 * PER_NOTIONAL }}
with which the account return of a short is that of the prices less both commissions -> ${{ side: 'short', leverage: 3 }} -> ${{ account_return: 3 * -0.1021 }}
of its stop while it is open, and no account return -> ${{ ...OPEN, stop: 90 }} -> ${{ leverage: 0.2, account_return: null, return_per_notional: null }}
that is unknown while it is open without a stop -> ${OPEN} -> ${{ leverage: null, account_return: null, return_per_notional: null }}`)(
  'a trade has a leverage %s',
  (_, change, expected) => {
    expect(resolved(change)).toMatchObject(near(expected, 1e-12) as object)
  },
)

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
