// Payloads of `/v1/program/preview` and of `/v1/program`.
import { z } from 'zod'
import {
  asOf,
  averageCostBasis,
  benchmarkComparisons,
  cheapestQuartile,
  deploymentState,
  lastDeploySeq,
  pctDeployed,
  programWindow,
  recordHead,
  rolling,
  tierList,
} from './program-field.ts'
import { TV_STATUSES } from './strategy.ts'

const instrument = z.string().describe('Identifier of the spot pair.')
const tvStatus = z
  .enum(TV_STATUSES)
  .describe('Cross-check against an external charting tool; `provisional` until one was made.')

export const programPreview = z
  .looseObject({
    ...recordHead,
    deployment_state: deploymentState,
    instrument,
    window: programWindow,
    tiers: tierList,
    avg_cost_basis: averageCostBasis,
    benchmarks: benchmarkComparisons,
    pct_capital_cheapest_quartile: cheapestQuartile,
    pct_deployed: pctDeployed,
    rolling,
    as_of: asOf,
    tv_status: tvStatus,
  })
  .describe('The accumulation program in one page.')

export const programManifest = z
  .looseObject({
    ...recordHead,
    instrument,
    deployment_state: deploymentState,
    tiers: tierList,
    window: programWindow,
    contribution_cadence_bars: z.int().min(1).describe('Bars from one contribution to the next.'),
    reference_equity_usd: z.number().describe('The equity of the reference basket, US dollars.'),
    costs: z
      .looseObject({
        fee_bps: z.number().describe('Fee of a purchase, basis points.'),
        slippage_bps: z.number().describe('Slippage of a purchase, basis points.'),
      })
      .describe('What every purchase pays.'),
    benchmarks: benchmarkComparisons,
    last_deploy_seq: lastDeploySeq,
    dataset_version: z.string().describe('The dataset version, a UTC instant.'),
    tv_status: tvStatus,
  })
  .describe('What the accumulation program is.')

export type ProgramPreview = z.infer<typeof programPreview>
export type ProgramManifest = z.infer<typeof programManifest>
