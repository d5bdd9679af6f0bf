import { expect, test } from 'vitest'
import { strategyOf, wordAt } from '#core/dataset/snapshot.ts'
import { aModule, catalogue, csv, dailyBars, dailyFunding, moduleText, nightOf } from './night-book.ts'

test('entries of a module that are over the leverage cap are a notice, and the night goes on', async () => {
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
  const risks = { base: 0.02, below: 0.059, above: 0.061 }
  const greedy = ([id, baseRisk]: [string, number]) => [
    `strategies/${id}.ts`,
    moduleText(id, {
      body: `baseRisk: ${baseRisk}, onBar: (state, bar, position) => position ? null : { act: 'long', stop: bar.c * 0.996 },`,
    }),
  ]
  const { snapshot, notices } = await nightOf({
    'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 100, 100, 101, 102, 103]),
    ...Object.fromEntries(Object.entries(risks).map(greedy)),
    'catalogue.yaml': catalogue(
      Object.entries(risks).map(([id, base_risk_pct]) => ({ ...aModule(id), base_risk_pct })),
    ),
  })
  for (const { refused_above_risk_pct } of snapshot.strategies)
    expect(refused_above_risk_pct).toBeCloseTo(0.06, 12) // a leverage of 5 of the 15 that are allowed
  expect(notices).toEqual([expect.stringMatching(/^above: /)])
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
  const rows = dailyFunding(20).trim().split('\n')
  const without = (from: number, to: number) => csv(...rows.filter((_, row) => row < from || row >= to))
  const feeds = { whole: dailyFunding(20), gap: without(8, 14), late: without(1, 9) }
  const ids = Object.keys(feeds)
  const { snapshot, notices } = await nightOf({
    ...Object.fromEntries(ids.map(id => [`bars/${id}/1d.csv`, dailyBars(Array<number>(20).fill(100))])),
    ...Object.fromEntries(Object.entries(feeds).map(([id, feed]) => [`funding/${id}.csv`, feed])),
    ...Object.fromEntries(ids.map(id => [`strategies/${id}.ts`, moduleText(id)])),
    'catalogue.yaml': catalogue(
      ids.map(id => ({ ...aModule(id), instrument: id })),
      {},
      '24h',
    ),
  })
  expect(snapshot.strategies.map(({ verification_state }) => verification_state)).toEqual([
    'dual_verified',
    'single_verified',
    'single_verified',
  ])
  expect(notices).toEqual(
    ['gap', 'late'].map(id =>
      expect.stringMatching(
        new RegExp(
          String.raw`^${id}: single_verified, because \d\S* % of the time of its positions is where the funding of ${id} is unknown, more than 1 %: `,
        ),
      ),
    ),
  )
})
