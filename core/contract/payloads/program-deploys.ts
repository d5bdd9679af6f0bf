// Payload of `/v1/program/deploys`.
import { z } from 'zod'
import { bitcoin, dollars, instant, recordHead, tierName } from './program-field.ts'

export const programDeploy = z.looseObject({
  ...recordHead,
  seq: z.int().min(1).describe('Strictly ascending number of the deployment in the program.'),
  deploy_id: z.string().describe('Unique id, for de-duplication.'),
  timestamp: instant('Close of the bar that bought.'),
  tier: tierName,
  price: dollars('The close of that bar.'),
  weight: z.number().describe('Fraction of the equity that was spent, 10 significant digits.'),
  usd: dollars('What was spent for the reference equity, costs in.'),
  btc: bitcoin('What it brought.'),
  cum_weight: z.number().describe('Fraction of the equity spent so far, 10 significant digits.'),
  avg_cost_basis: dollars('Dollars spent for one BTC so far, costs in.'),
})

export const programDeploys = z
  .array(programDeploy)
  .describe('The deployments of the reference basket, ascending. One that was published never changes.')

export type ProgramDeploy = z.infer<typeof programDeploy>
