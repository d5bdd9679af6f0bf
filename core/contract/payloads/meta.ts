// The schemas of `meta`, `links` and what errors say. They are apart from `register.ts`, because code that runs in a browser imports no zod.
import { z } from 'zod'
import {
  byName,
  flag,
  list,
  listIfAny,
  number,
  numberOrNull,
  object,
  record,
  text,
  textOrNull,
  whole,
  wholeOrNull,
} from './field.ts'
import type { SimulationInput } from './program.ts'
import type { Basis } from './strategy.ts'

const MODELLED_UNIT = 'a fraction: 0.02 = 2 % of equity per trade'

export const meta = record('Register and provenance of the answer.', {
  basis: text(
    'How the figures came about: `backtested` by a replay or computed from a ledger, `reported` by the maker of the ' +
      'history, or `mixed` where the answer has strategies of both kinds. Signals of the live log are `live`.',
  ),
  register: text('What kind of statement this is. `factual_historical`.'),
  audience: text('For whom the data is meant. `professional_institutional`.'),
  license: text('Scope of the data licence. `global`.'),
  dataset_version: textOrNull('UTC instant that names the dataset snapshot, ISO 8601.'),
  generated_utc: textOrNull(
    'UTC instant of the answer. For dataset answers it is the instant of the version, or the later one at which it was ' +
      'entered, so that equal answers are equal bytes.',
  ),
  timing_ms: numberOrNull(
    'Server time in milliseconds; null on dataset answers, where `Server-Timing` carries it.',
  ),
  disclaimer: text('The terms under which historical results must be read.'),
  count: z.int().optional().describe('Number of items in `data`.'),
  period: z.enum(['daily', 'weekly']).optional().describe('Period of the returns in the answer.'),
  risk_pct: z.number().optional().describe(`Risk level of the figures, ${MODELLED_UNIT}.`),
  modelled: z.boolean().optional().describe('True when the figures were rescaled by `risk_pct`.'),
  base_risk_pct: z.number().optional().describe(`Risk level of the strategy itself, ${MODELLED_UNIT}.`),
  base_risk_pcts: byName(
    `Export at a risk level: the base risk of each strategy, because they may differ, ${MODELLED_UNIT}.`,
    z.number(),
  ).optional(),
  requested_risk_pct: z.number().optional().describe(`Risk level that was asked for, ${MODELLED_UNIT}.`),
  effective_risk_pct: number(`Risk level that was used after clamping, ${MODELLED_UNIT}.`).optional(),
  risk_pct_clamped: flag('True when the requested level was above the cap and was lowered to it.').optional(),
  time_underwater_footnote: z.string().optional().describe('How time under water is counted.'),
  note: z.string().optional().describe('One sentence on method.'),
})

export type Meta = z.infer<typeof meta>

export const links = byName('Related resources as relative paths: `self` and its siblings.', z.string())

// The block `meta` of the signals service: what is keyed is no publication, and has no register.

export const keyedMeta = record('The moment of the answer and the measured time.', {
  generated_utc: text('UTC instant of the answer, ISO 8601.'),
  timing_ms: numberOrNull('Server time in milliseconds; null where a request could not even be read.'),
  basis: z
    .literal('live' satisfies Basis)
    .optional()
    .describe('Signals: they are of the live log, as opposed to `backtested` and `reported` histories.'),
  count: z.int().min(0).optional().describe('Number of items in `data`.'),
  last_seq: z.int().min(0).optional().describe('What to give as `since` next time.'),
  expired: listIfAny(
    'Signals: the entries of `data` that were not pushed, because they were too old for an endpoint when they were due. Absent if there are none.',
    object('An entry that expired.', {
      seq: whole('Its number.'),
      endpoints: list('The endpoints at which it expired.', z.string()),
    }),
  ),
  input_clamped: flag(
    'Simulations: true when what was asked lay outside of the bounds and was brought to them.',
  ).optional(),
  requested: record('Simulations: the input that was asked for.', {
    equity_usd: number('The equity that was asked for, US dollars.'),
    contribution_cadence_bars: number('The cadence that was asked for, bars.'),
  }).optional(),
})

/** The same of the operator's interface, whose lists have pages. */
export const operatorMeta = keyedMeta
  .pick({ generated_utc: true, timing_ms: true })
  .extend({
    next: wholeOrNull('Lists: what to give as `before` for older ones; null if there is none.').optional(),
  })
  .describe('The moment of the answer and the measured time.')

export type KeyedMeta = Pick<z.infer<typeof keyedMeta>, 'generated_utc' | 'timing_ms'>

export type KeyedMetaExtra = Partial<
  Pick<z.infer<typeof keyedMeta>, 'basis' | 'count' | 'last_seq' | 'input_clamped'> &
    Pick<z.infer<typeof operatorMeta>, 'next'> & { requested: SimulationInput }
>

export const parameterProblem = object('One refused parameter.', {
  param: text('Name of the parameter, of the field, or `body`.'),
  value: text('What was given, cut if it is long.'),
  reason: text('What is wrong with it.'),
  allowed: listIfAny('The legal values, if there are few.', z.string()),
}).meta({ id: 'ParameterProblem' })

/** What `details` may hold; each code has one shape or none. */
export const errorDetails = z
  .union([
    z.array(parameterProblem),
    z.object({
      checks: byName('The checks, false for each that fails.', z.boolean()),
    }),
    z.object({ available: list('What there is instead.', z.string()) }),
    z.null(),
  ])
  .describe(
    'More about the error, or null: the refused parameters of a `validation_error`, the checks of `not_ready`.',
  )
