import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { replay } from '#core/replay/replay.ts'
import { FREE, handBars, type Ohlc, record, slot, still, TIMEFRAME_MS } from '../../core/replay/hand.ts'
import { realBars } from '../../core/replay/real-bars.ts'
import { REFERENCE } from '../../core/replay/strategies.ts'
import { syntheticBars } from '../../core/replay/synthetic-bars.ts'

const COSTS = { commission_bps_per_side: 5, slippage_ticks: 2, tick_size: 0.1, max_leverage: 15 }

describe.each(REFERENCE)('%s', (_, strategy) => {
  test('makes no senseless decision in a market that does not move and then does', () => {
    const rows = [...new Array<Ohlc>(1_200).fill(still(100)), ...[100, 100.5, 130, 60, 90, 200].map(still)]
    const { state } = replay({ strategy, bars: handBars(rows), funding: null, costs: FREE })
    expect(state.bars).toBe(rows.length)
  })

  test('trades on both sides, after its warm-up, within the cap, and never says what is already so', () => {
    const { events, result } = record({ strategy, bars: syntheticBars(6_000), funding: null, costs: COSTS })
    const sides = new Set(result.trades.map(({ side }) => side))
    expect([...sides].sort()).toEqual(['long', 'short'])
    expect(events[0]!.t).toBeGreaterThanOrEqual(slot(strategy.warmupBars))
    expect(result.state.entries_refused).toBe(0)
    expect(result.state.decisions_ignored).toBe(0)
  })

  test.skipIf(realBars === null)('has a median leverage of 0.3 to 2 on the real bars', () => {
    const { trades } = replay({ strategy, bars: realBars!, funding: null, costs: COSTS })
    const leverages = trades.map(({ leverage }) => leverage!).sort((a, b) => a - b)
    const median = leverages[leverages.length >> 1]!
    expect(median).toBeGreaterThan(0.3)
    expect(median).toBeLessThan(2)
    expect(trades.length).toBeGreaterThan(50)
  })

  test('is for bars of four hours at a risk of 2 %', () => {
    expect(strategy).toMatchObject({ timeframeMs: TIMEFRAME_MS, baseRisk: 0.02, version: '1' })
  })
})

const BOOK = '../../../pipeline'

describe('the modules of the sample and starter books', () => {
  const sample = join(import.meta.dirname, BOOK, 'sample/template/strategies')
  const starter = join(import.meta.dirname, BOOK, 'starter/template/strategies')
  const files = [
    ...readdirSync(sample).map(name => join(sample, name)),
    join(starter, 'oak.ts'),
    join(starter, 'highwater/indicators.ts'),
  ]

  test.each(files)('can be copied away: %s imports the types of a strategy and indicators alone', file => {
    const source = readFileSync(file, 'utf8')
    for (const [line, clause, path] of source.matchAll(/^(?:import|export) ([^'"]*)from '([^']+)'/gm)) {
      const isIndicators = path!.endsWith('/highwater/indicators.ts')
      const isTypes = path === '#core/replay/strategy.ts' && clause!.startsWith('type ')
      expect(isIndicators || isTypes, line).toBe(true)
    }
    expect(source).not.toMatch(/import\(|require\(|process\.|Date|Math\.random/)
  })
})
