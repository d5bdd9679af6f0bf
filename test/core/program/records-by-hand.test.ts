import { expect, test } from 'vitest'
import { renderBasket } from '#core/dataset/resources/program/basket.ts'
import { renderDeploys } from '#core/dataset/resources/program/deploys.ts'
import { renderPerformance } from '#core/dataset/resources/program/performance.ts'
import { prepareProgram } from '#core/program/prepare-program.ts'
import { ALWAYS, barsOf, CORE_ONLY, DIPS, planOf } from './programs.ts'

// A cost of 1 % and closes of 100, 200 and 80.
const costs = { fee_bps: 100, slippage_bps: 0 }

test('deployments are those that a hand computes', () => {
  const plan = planOf(2, {
    tiers: CORE_ONLY,
    contribution_cadence_bars: 1,
    costs,
  })
  const data = prepareProgram(plan, barsOf([100, 200]))
  expect(renderDeploys(data)).toEqual([
    {
      schema_version: '1.0',
      alias: 'accumulation',
      seq: 1,
      deploy_id: 'accumulation-1',
      timestamp: '2016-07-19T00:00:00Z',
      tier: 'core',
      price: 100,
      weight: 0.5,
      usd: 50_000,
      btc: 495,
      cum_weight: 0.5,
      avg_cost_basis: 101.010101,
    },
    {
      schema_version: '1.0',
      alias: 'accumulation',
      seq: 2,
      deploy_id: 'accumulation-2',
      timestamp: '2016-07-20T00:00:00Z',
      tier: 'core',
      price: 200,
      weight: 0.5,
      usd: 50_000,
      btc: 247.5,
      cum_weight: 1,
      avg_cost_basis: 134.6801347,
    },
  ])
})

const twoTiers = prepareProgram(
  planOf(4, {
    tiers: [
      { tier: 'core', weight: 0.5, rule: ALWAYS },
      { tier: 'tactical', weight: 0.5, rule: DIPS },
    ],
    contribution_cadence_bars: 2,
    costs,
  }),
  barsOf([100, 200, 80]),
)

test('a basket is the one that a hand computes, half of its window to come', () => {
  const basket = renderBasket(twoTiers, 'personal', { equity_usd: 1000, contribution_cadence_bars: 2 })
  expect(basket).toEqual({
    schema_version: '1.0',
    alias: 'accumulation',
    view: 'personal',
    as_of: '2016-07-21T00:00:00Z',
    deployment_state: 'accumulating',
    equity_usd: 1000,
    contribution_cadence_bars: 2,
    mark_price: 80,
    tiers: [
      {
        tier: 'core',
        weight: 0.5,
        contributed_usd: 500,
        deployed_usd: 500,
        reserve_usd: 0,
        // 250 x 0.99 / 100 + 250 x 0.99 / 80
        btc: 5.56875,
        avg_cost_basis: 89.78675645,
      },
      {
        tier: 'tactical',
        weight: 0.5,
        contributed_usd: 500,
        // 60 % below 200 is the step of three quarters: 375 x 0.99 / 80
        deployed_usd: 375,
        reserve_usd: 125,
        btc: 4.640625,
        avg_cost_basis: 80.80808081,
      },
    ],
    totals: {
      contributed_usd: 1000,
      deployed_usd: 875,
      reserve_usd: 125,
      btc: 10.209375,
      avg_cost_basis: 85.70554025,
      market_value_usd: 816.75,
      unrealized_pct: -6.657143,
      pct_deployed: 87.5,
    },
    last_deploy_seq: 3,
  })
})

test('a performance is the one that a hand computes', () => {
  // dca has 11.1375 BTC for 1000 dollars, the program 10.209375 for 875: 1 / 22 cheaper, 1 / 21 more.
  expect(renderPerformance(twoTiers, 'dca')).toMatchObject({
    avg_cost_basis: 85.70554025,
    benchmark_value: 89.78675645,
    pct_cheaper: 4.545455,
    advantage_bps: 454.5455,
    btc_vs_benchmark_pct: 4.761905,
    // The cheapest quarter ends at 90: 625 of 875 dollars.
    pct_capital_cheapest_quartile: 0.714286,
    pct_deployed: 87.5,
    rolling: null,
  })
})
