import { describe, expect, test } from 'vitest'
import { kinds, only, run, slot, still } from './hand.ts'

const LONG = { act: 'long', stop: 90 }
const FLAT = { act: 'flat', why: 'signal' }

describe('a reversal', () => {
  const bars = [still(100), [100, 105, 100, 105], still(110), still(110)] as const

  test('is an exit and then an entry, both at the next open, sized on the deciding close', () => {
    // Long 0.002 at 100. The short is decided at the close 105, where the equity is 1.01, with its stop 10.1
    // away: qty = 1.01 * 0.02 / 10.1 = 0.002. Both fill at 110: the exit makes the equity 1.02.
    const { result, events } = run({ bars, decisions: { 0: LONG, 1: { act: 'short', stop: 115.1 } } })
    expect(kinds(events)).toEqual(['ordered', 'opened', 'ordered', 'ordered', 'closed', 'opened'])
    expect(events[2]).toMatchObject({ act: 'flat', why: 'signal', stop: 90 })
    expect(result.trades[0]).toMatchObject({
      side: 'long',
      exit_time: slot(2),
      exit_price: 110,
      exit_reason: 'signal',
    })
    expect(result.trades[1]).toMatchObject({ side: 'short', entry_time: slot(2), entry_price: 110 })
    expect(result.trades[1]!.leverage).toBeCloseTo((0.002 * 110) / 1.02, 14)
  })

  test('whose entry is over the cap still exits', () => {
    const { result, events } = run({ bars, decisions: { 0: LONG, 1: { act: 'short', stop: 105.1 } } })
    expect(kinds(events)).toEqual(['ordered', 'opened', 'ordered', 'refused', 'closed'])
    expect(only(result.trades)).toMatchObject({ exit_time: slot(2), exit_reason: 'signal' })
    expect(result.state.open).toBeNull()
  })
})

describe('a decision for what is already so', () => {
  test('is ignored and counted, and changes no stop', () => {
    const { result, events } = run({
      bars: [still(100), still(100), still(100)],
      decisions: { 0: LONG, 1: { act: 'long', stop: 50 } },
    })
    expect(kinds(events)).toEqual(['ordered', 'opened', 'ignored'])
    expect(result.state).toMatchObject({ decisions_ignored: 1 })
    expect(result.state.open!.position.stop).toBe(90)
  })

  test('covers a flat without a position', () => {
    const { result } = run({ bars: [still(100), still(100)], decisions: { 0: FLAT } })
    expect(result.state).toMatchObject({ decisions_ignored: 1, exit_order: null })
  })
})
