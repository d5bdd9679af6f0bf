import { expect, test } from 'vitest'
import { strategyOf, wordAt } from '#core/dataset/snapshot.ts'
import { aModule, catalogue, csv, dailyBars, dailyFunding, moduleText, nightOf } from './night-book.ts'

test('what an operator should know of a module and that is no fault is a notice, and the night goes on', async () => {
  const { snapshot, notices } = await nightOf({
    'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 100, 100, 101, 102, 103]),
    // Over the cap of 15: 0.02 of the equity over a stop at a thousandth.
    'strategies/greedy.ts': moduleText('greedy', {
      body: `onBar: (state, bar) => ({ act: 'long', stop: bar.c * 0.999 }),`,
    }),
    'strategies/sound.ts': moduleText('sound'),
    'catalogue.yaml': catalogue([aModule('greedy'), aModule('sound')]),
  })
  expect(notices).toEqual(['greedy: entries refused because they were over the leverage cap: 6'])
  expect([...strategyOf(snapshot, 'greedy')!.daily.values]).toEqual([0, 0, 0, 0, 0, 0])
  expect(strategyOf(snapshot, 'greedy')!.refused_above_risk_pct).toBeCloseTo(0.015, 12)
})

test('the level of the first refusal is where the same module, replayed at that risk, is refused', async () => {
  const at = async (baseRisk: number) => {
    const { snapshot, notices } = await nightOf({
      'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 100, 100, 101, 102, 103]),
      'strategies/greedy.ts': moduleText('greedy', {
        body: `baseRisk: ${baseRisk}, onBar: (state, bar, position) => position ? null : { act: 'long', stop: bar.c * 0.996 },`,
      }),
      'catalogue.yaml': catalogue([{ ...aModule('greedy'), base_risk_pct: baseRisk }]),
    })
    return { level: strategyOf(snapshot, 'greedy')!.refused_above_risk_pct, refused: notices.length > 0 }
  }
  const { level, refused } = await at(0.02)
  expect(refused).toBe(false)
  expect(level).toBeCloseTo(0.06, 12) // a leverage of 5 of the 15 that are allowed
  expect(await at(0.059)).toMatchObject({ refused: false, level: expect.closeTo(0.06, 12) })
  expect(await at(0.061)).toMatchObject({ refused: true, level: expect.closeTo(0.06, 12) })
})

test('a module that is liquidated is published with the liquidation, and a notice', async () => {
  const { snapshot, notices } = await nightOf({
    // The fourth bar opens at less than half: a long of ten times the account has lost more than all of it.
    'bars/BTCUSDT-PERP/1d.csv': csv(
      't,o,h,l,c,v',
      '2024-01-01T00:00:00Z,100,100,100,100,1',
      '2024-01-02T00:00:00Z,100,100,100,100,1',
      '2024-01-03T00:00:00Z,100,100,100,100,1',
      '2024-01-04T00:00:00Z,45,45,45,45,1',
      '2024-01-05T00:00:00Z,45,90,45,90,1',
    ),
    'strategies/bold.ts': moduleText('bold', {
      body: `baseRisk: 0.1, onBar: (state, bar, position) => position ? null : { act: 'long', stop: bar.c * 0.99 },`,
    }),
    'catalogue.yaml': catalogue([{ ...aModule('bold'), base_risk_pct: 0.1 }]),
  })
  const bold = strategyOf(snapshot, 'bold')!
  expect(notices).toEqual(['bold: the account was liquidated; its returns are 0 from that day'])
  expect([...bold.daily.values]).toEqual([0, 0, 0, -1, 0])
  expect(wordAt(bold.trades.exit_reason, 0)).toBe('liquidation')
  expect(bold.figures.values).toMatchObject({ net_return_pct: -100, max_drawdown_pct: -100 })
})

test('a module with positions where funding is unknown is single_verified, with a notice', async () => {
  const night = (funding: string) =>
    nightOf({
      'bars/BTCUSDT-PERP/1d.csv': dailyBars(Array<number>(20).fill(100)),
      'funding/BTCUSDT-PERP.csv': funding,
      'strategies/oak.ts': moduleText('oak'),
      'catalogue.yaml': catalogue([aModule('oak')], {}, '24h'),
    })
  const without = (from: number, to: number) =>
    csv(
      ...dailyFunding(20)
        .trim()
        .split('\n')
        .filter((_, row) => row < from || row >= to),
    )
  const whole = await night(dailyFunding(20))
  expect(strategyOf(whole.snapshot, 'oak')!.verification_state).toBe('dual_verified')
  expect(whole.notices).toEqual([])
  for (const funding of [without(8, 14), without(1, 9)]) {
    const { snapshot, notices } = await night(funding)
    expect(strategyOf(snapshot, 'oak')!.verification_state).toBe('single_verified')
    expect(notices).toEqual([
      expect.stringMatching(
        /^oak: single_verified, because \d\S* % of the time of its positions is where the funding of BTCUSDT-PERP is unknown, more than 1 %: /,
      ),
    ])
  }
})
