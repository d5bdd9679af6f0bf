// Payload of `/v1/program/basket`.
import { z } from 'zod'
import { percent } from './field.ts'
import {
  asOf,
  averageCostBasis,
  bitcoin,
  deploymentState,
  dollars,
  lastDeploySeq,
  pctDeployed,
  recordHead,
  tierWeight,
} from './program-field.ts'

export const BASKET_VIEWS = ['reference', 'personal'] as const
export type BasketView = (typeof BASKET_VIEWS)[number]

const holding = {
  contributed_usd: dollars('What has come in.'),
  deployed_usd: dollars('What was spent, costs in.'),
  reserve_usd: dollars('What waits as cash.'),
  btc: bitcoin('What was bought.'),
  avg_cost_basis: averageCostBasis,
}

export const programBasket = z
  .looseObject({
    ...recordHead,
    view: z
      .enum(BASKET_VIEWS)
      .describe('`reference`: the equity and cadence of the program; `personal`: those of the profile.'),
    as_of: asOf,
    deployment_state: deploymentState,
    equity_usd: z.number().describe('What all contributions of the planned window sum to, US dollars.'),
    contribution_cadence_bars: z.int().min(1).describe('Bars from one contribution to the next.'),
    mark_price: dollars('The newest close; null where there is none.').nullable(),
    tiers: z.array(z.looseObject({ ...tierWeight, ...holding })).describe('The basket by tier.'),
    totals: z
      .looseObject({
        ...holding,
        market_value_usd: dollars('`btc` at the mark price, without the reserve.'),
        unrealized_pct: percent(
          'The mark price over the average cost, minus 1; null until something is bought.',
        ).nullable(),
        pct_deployed: pctDeployed,
      })
      .describe('The whole basket.'),
    last_deploy_seq: lastDeploySeq,
  })
  .describe('What the program holds.')

export type ProgramBasket = z.infer<typeof programBasket>
