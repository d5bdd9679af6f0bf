import { toIsoInstant } from '#core/calendar.ts'
import type { BasketView, ProgramBasket, SimulationInput } from '#core/contract/payloads/program.ts'
import { toPercent, toSignificant } from '#core/contract/rounding.ts'
import type { ProgramData } from '#core/program/program.ts'
import { deploymentState } from '#core/program/program-window.ts'
import { averageCost, type Holding, type Simulation, simulate } from '#core/program/simulate.ts'
import { published } from './comparison.ts'
import { pctDeployed, recordHead } from './record-parts.ts'

/**
 * `/v1/program/basket`: what the program holds. `reference` is the run whose deployments are published: those
 * that `/v1/program/deploys` numbers, whatever the cadence of this basket.
 */
export function renderBasket(
  data: ProgramData,
  view: BasketView,
  input: SimulationInput,
  simulation: Simulation = simulate(data, input.contribution_cadence_bars),
  reference: Simulation = simulate(data, data.plan.contribution_cadence_bars),
): ProgramBasket {
  const { equity_usd } = input
  const price = data.mark?.price ?? null
  return {
    ...recordHead(data.plan),
    view,
    as_of: data.mark === null ? null : toIsoInstant(data.mark.at),
    deployment_state: deploymentState(data),
    equity_usd,
    contribution_cadence_bars: input.contribution_cadence_bars,
    mark_price: published(price),
    tiers: simulation.tiers.map(({ tier, weight, ...holding }) => ({
      tier,
      weight,
      ...holdingRecord(holding, equity_usd),
    })),
    totals: totalsRecord(simulation.totals, equity_usd, price),
    last_deploy_seq: reference.deployments.length,
  }
}

const holdingRecord = (holding: Holding, equity: number) => ({
  contributed_usd: toSignificant(holding.contributed * equity),
  deployed_usd: toSignificant(holding.deployed * equity),
  reserve_usd: toSignificant(holding.reserve * equity),
  btc: toSignificant(holding.btc * equity),
  avg_cost_basis: published(averageCost(holding)),
})

function totalsRecord(totals: Holding, equity: number, price: number | null) {
  const average = averageCost(totals)
  return {
    ...holdingRecord(totals, equity),
    market_value_usd: toSignificant(totals.btc * equity * (price ?? 0)),
    unrealized_pct: average === null || price === null ? null : toPercent((price / average - 1) * 100),
    pct_deployed: pctDeployed(totals),
  }
}
