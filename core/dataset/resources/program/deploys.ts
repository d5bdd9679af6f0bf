import { toIsoInstant } from '#core/calendar.ts'
import type { ProgramDeploy } from '#core/contract/payloads/program.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import type { ProgramData } from '#core/program/program.ts'
import { type Deployment, simulate } from '#core/program/simulate.ts'
import { recordHead } from './record-parts.ts'

/**
 * `/v1/program/deploys`: every deployment of the reference basket, ascending. A record depends on nothing
 * after its bar, so a later night appends and never changes one.
 */
export function renderDeploys(data: ProgramData): ProgramDeploy[] {
  const { deployments } = simulate(data, data.plan.contribution_cadence_bars)
  let [deployed, btc] = [0, 0]
  return deployments.map((deployment, i) => {
    deployed += deployment.spend
    btc += deployment.btc
    return {
      ...deployRecord(data, i + 1, deployment),
      cum_weight: toSignificant(deployed),
      avg_cost_basis: toSignificant(deployed / btc),
    }
  })
}

function deployRecord(
  { plan, bars, first }: ProgramData,
  seq: number,
  { bar, tier, spend, btc }: Deployment,
) {
  const equity = plan.reference_equity_usd
  return {
    ...recordHead(plan),
    seq,
    deploy_id: `${plan.alias}-${seq}`,
    timestamp: toIsoInstant(bars.t[first + bar]! + bars.timeframeMs),
    tier,
    price: toSignificant(bars.c[first + bar]!),
    weight: toSignificant(spend),
    usd: toSignificant(spend * equity),
    btc: toSignificant(btc * equity),
  }
}
