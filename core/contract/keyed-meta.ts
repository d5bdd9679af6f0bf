// The block `meta` of the signals service: what is keyed is no publication, and has no register.
import { z } from 'zod'
import { number, numberOrNull, record, text } from './payloads/field.ts'
import type { SimulationInput } from './payloads/program.ts'
import type { Basis } from './payloads/strategy.ts'

export const keyedMeta = record('The moment of the answer and the measured time.', {
  generated_utc: text('UTC instant of the answer, ISO 8601.'),
  timing_ms: numberOrNull('Server time in milliseconds; null where a request could not even be read.'),
  basis: z
    .literal('live' satisfies Basis)
    .optional()
    .describe('Signals: they are of the live log, as opposed to `backtested` and `reported` histories.'),
  count: z.int().min(0).optional().describe('Number of items in `data`.'),
  last_seq: z.int().min(0).optional().describe('What to give as `since` next time.'),
  input_clamped: z
    .boolean()
    .optional()
    .describe('Simulations: true when what was asked lay outside of the bounds and was brought to them.'),
  requested: z
    .looseObject({
      equity_usd: number('The equity that was asked for, US dollars.'),
      contribution_cadence_bars: number('The cadence that was asked for, bars.'),
    })
    .optional()
    .describe('Simulations: the input that was asked for.'),
})

/** The same of the operator's interface, whose lists have pages. */
export const operatorMeta = keyedMeta
  .pick({ generated_utc: true, timing_ms: true })
  .extend({
    next: z
      .int()
      .nullable()
      .optional()
      .describe('Lists: what to give as `before` for older ones; null if there is none.'),
  })
  .describe('The moment of the answer and the measured time.')

/** The fixed block of it. */
export type KeyedMeta = Pick<z.infer<typeof keyedMeta>, 'generated_utc' | 'timing_ms'>

/** What a route adds to it. */
export type KeyedMetaExtra = Partial<
  Pick<z.infer<typeof keyedMeta>, 'basis' | 'count' | 'last_seq' | 'input_clamped'> &
    Pick<z.infer<typeof operatorMeta>, 'next'> & { requested: SimulationInput }
>
