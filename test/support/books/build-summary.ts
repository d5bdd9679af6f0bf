import { z } from 'zod'

const summary = z.object({
  version: z.string(),
  manifest_sha256: z.string(),
  window: z.object({ from: z.string().nullable(), to: z.string().nullable() }),
  strategies: z.array(
    z.object({
      id: z.string(),
      verification_state: z.string(),
      days: z.int(),
      trades: z.int(),
      net_return_pct: z.number().nullable(),
      max_drawdown_pct: z.number().nullable(),
      sharpe_daily_annualized: z.number().nullable(),
    }),
  ),
  gaps: z.record(z.string(), z.int()),
  artifacts: z.object({ count: z.int(), bytes: z.int(), br_bytes: z.int(), gzip_bytes: z.int() }),
})

/** What `build --json` prints: one JSON document and nothing beside it. */
export const parseBuildSummary = (stdout: string) => summary.parse(JSON.parse(stdout))
