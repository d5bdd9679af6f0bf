// The register: the block `meta` that says what an answer is, where it comes from and under which terms.
import { z } from 'zod'

const MODELLED_UNIT = 'a fraction: 0.02 = 2 % of equity per trade'

export const meta = z
  .looseObject({
    basis: z
      .string()
      .describe(
        'How the figures came about: `backtested` by a replay or computed from a ledger, `reported` by the maker of the ' +
          'history, or `mixed` where the answer has strategies of both kinds. Signals of the live log are `live`.',
      ),
    register: z.string().describe('What kind of statement this is. `factual_historical`.'),
    audience: z.string().describe('For whom the data is meant. `professional_institutional`.'),
    license: z.string().describe('Scope of the data licence. `global`.'),
    dataset_version: z.string().nullable().describe('UTC instant that names the dataset snapshot, ISO 8601.'),
    generated_utc: z
      .string()
      .nullable()
      .describe(
        'UTC instant of the answer. For dataset answers it is the instant of the version, so that equal answers are equal bytes.',
      ),
    timing_ms: z
      .number()
      .nullable()
      .describe('Server time in milliseconds; null on dataset answers, where `Server-Timing` carries it.'),
    disclaimer: z.string().describe('The terms under which historical results must be read.'),
    count: z.int().optional().describe('Number of items in `data`.'),
    period: z.enum(['daily', 'weekly']).optional().describe('Period of the returns in the answer.'),
    risk_pct: z.number().optional().describe(`Risk level of the figures, ${MODELLED_UNIT}.`),
    modelled: z.boolean().optional().describe('True when the figures were rescaled by `risk_pct`.'),
    base_risk_pct: z.number().optional().describe(`Risk level of the strategy itself, ${MODELLED_UNIT}.`),
    base_risk_pcts: z
      .record(z.string(), z.number())
      .optional()
      .describe(
        `Export at a risk level: the base risk of each strategy, because they may differ, ${MODELLED_UNIT}.`,
      ),
    requested_risk_pct: z.number().optional().describe(`Risk level that was asked for, ${MODELLED_UNIT}.`),
    effective_risk_pct: z
      .number()
      .optional()
      .describe(`Risk level that was used after clamping, ${MODELLED_UNIT}.`),
    risk_pct_clamped: z
      .boolean()
      .optional()
      .describe('True when the requested level was above the cap and was lowered to it.'),
    time_underwater_footnote: z.string().optional().describe('How time under water is counted.'),
    note: z.string().optional().describe('One sentence on method.'),
  })
  .describe('Register and provenance of the answer.')

export type Meta = z.infer<typeof meta>

/** What a resource adds to the register: everything past the fixed block. */
export type MetaExtra = Partial<
  Pick<
    Meta,
    | 'basis'
    | 'count'
    | 'period'
    | 'risk_pct'
    | 'modelled'
    | 'base_risk_pct'
    | 'base_risk_pcts'
    | 'requested_risk_pct'
    | 'effective_risk_pct'
    | 'risk_pct_clamped'
    | 'time_underwater_footnote'
    | 'note'
  >
>

/** What the register says of a dataset, or of none (`version` null). */
export type Provenance = { readonly version: string | null; readonly disclaimer: string }

/** The disclaimer of a catalogue that brings none, and of a service without a dataset. */
export const DEFAULT_DISCLAIMER =
  'Historical, backtested or modelled results, published as factual information for professional and institutional ' +
  'use. They were not achieved by trading a real account, are made with the benefit of hindsight, and rest on ' +
  'assumptions about costs, liquidity and execution that may not hold. Leveraged trading can lose all of the ' +
  'capital committed. Past results, modelled or real, are no guide to future results. Nothing here is advice, a ' +
  'recommendation, an offer or a forecast.'

/** The fixed block of the register. */
export type Register = Pick<
  Meta,
  | 'basis'
  | 'register'
  | 'audience'
  | 'license'
  | 'dataset_version'
  | 'generated_utc'
  | 'timing_ms'
  | 'disclaimer'
>

/** The fixed block of the register, in the order of the wire. */
export const register = (of: Provenance, generatedUtc: string | null, timingMs: number | null): Register => ({
  basis: 'backtested',
  register: 'factual_historical',
  audience: 'professional_institutional',
  license: 'global',
  dataset_version: of.version,
  generated_utc: generatedUtc,
  timing_ms: timingMs,
  disclaimer: of.disclaimer,
})

/** Related resources as relative paths; `self` is the canonical path of the answer. */
export type Links = Readonly<Record<string, string>>

export const links = z
  .record(z.string(), z.string())
  .describe('Related resources as relative paths: `self` and its siblings.')
