// What the specification of the history service promises of every envelope, written down a second time and apart from the schemas of
// the product; and the payloads that tests read.
import { z } from 'zod'

const isoDate = z.string().regex(/^\d{4}-\d{2}-\d{2}$/)
const instant = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)

/** The block that every envelope carries. */
export const REGISTER = z.object({
  basis: z.enum(['backtested', 'reported', 'mixed']),
  register: z.literal('factual_historical'),
  audience: z.literal('professional_institutional'),
  license: z.literal('global'),
  dataset_version: instant.nullable(),
  generated_utc: instant.nullable(),
  timing_ms: z.number().min(0).nullable(),
  disclaimer: z.string().min(1),
})

export const ERROR_ENVELOPE = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string().min(1), details: z.unknown() }),
  meta: REGISTER.strict(),
})

export const DATA = {
  readyz: z.object({
    ready: z.literal(true),
    checks: z.record(z.string(), z.literal(true)),
    unfit_version: instant.nullable(),
  }),
  versions: z.array(
    z.strictObject({
      version: instant,
      published: instant,
      entered: instant.nullable(),
      manifest_sha256: z.string().regex(/^[0-9a-f]{64}$/),
      is_served: z.boolean(),
      is_removed: z.boolean(),
      history_restated: z.boolean(),
    }),
  ),
  dataset: z.object({ version: instant }),
  correlation: z.object({ ids: z.array(z.string()) }),
  returns: z.array(z.strictObject({ t: isoDate, ret: z.number() })),
}
