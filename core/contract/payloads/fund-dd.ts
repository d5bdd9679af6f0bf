// The block `fund_dd`: what a fund's due diligence asks for, always at base risk. Each field carries its definition,
// its formula and when it is null, each group its conventions.
import { z } from 'zod'
import { drawdowns, monthly } from './fund-dd-path.ts'
import { riskAdjusted } from './fund-dd-risk.ts'
import { trades } from './fund-dd-trades.ts'
import { annual, exposure } from './fund-dd-years.ts'

export const fundDueDiligence = z
  .looseObject({ trades, risk_adjusted: riskAdjusted, drawdowns, monthly, annual, exposure })
  .describe('Statistics for due diligence, always at base risk.')
