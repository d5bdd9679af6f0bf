import { z } from 'zod'
import { parseIsoDate, toEpochDay } from '#core/calendar.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { INSTRUMENT_FORM, INSTRUMENT_PATTERN, tvStatus } from './catalogue.ts'
import { EARLIEST_MS, LATEST_MS } from './cell.ts'
import { got } from './field.ts'
import type { Timeframe } from './timeframe.ts'
import { mapSchema } from './yaml.ts'

// The fields of `program.yaml`. `expected` is the text of the message when a value is refused.

/** It buys over years: finer bars add nothing, and its rolling years would take hours. */
export const PROGRAM_TIMEFRAMES = ['1h', '4h', '1d'] as const satisfies readonly Timeframe[]

/** Ten years of daily bars: what contributes more rarely than that is no program. */
const MAX_CADENCE_BARS = 3650

/** Bands, or steps, of one tier: more of them are a curve, and no rule that people can check. */
export const MAX_STEPS = 16

/** The key of the strategies in the entitlements of a client; a program of that name would be ambiguous. */
const RESERVED_ALIAS = 'aliases'

const map = (description: string, expected: string) => mapSchema.meta({ description, expected })

/** The metadata comes last: it is not searched inside `optional`. */
const optionalMap = (description: string, expected: string) =>
  mapSchema.optional().meta({ description, expected })

const list = (description: string, expected: string) =>
  z.array(z.unknown()).min(1).max(MAX_STEPS).optional().meta({ description, expected })

const day = (description: string) =>
  z
    .string()
    .transform(parseIsoDate)
    .pipe(
      z
        .int()
        .min(toEpochDay(EARLIEST_MS))
        .max(toEpochDay(LATEST_MS) - 1),
    )
    .meta({ description, expected: 'a date from 1980 to 2099 as YYYY-MM-DD' })

const basisPoints = (description: string) =>
  z
    .number()
    .min(0)
    .max(1000)
    .meta({ description, expected: 'a number of basis points from 0 to 1000 (5 = 0.05 %)' })

/** The file. Its parts have shapes of their own below. `ids` are the strategies of the catalogue. */
export const programShape = (ids: readonly string[]) => ({
  alias: alias(ids),
  instrument: z.string().regex(INSTRUMENT_PATTERN).meta({
    description: 'Spot market; also the name of its folder under bars/.',
    expected: INSTRUMENT_FORM,
  }),
  timeframe: z
    .enum(PROGRAM_TIMEFRAMES)
    .default('1d')
    .meta({
      description: 'Timeframe of the bars that the program buys on.',
      expected: `one of ${PROGRAM_TIMEFRAMES.join(', ')}`,
    }),
  window: map('The planned window.', 'a map with from and to'),
  tiers: optionalMap('The tiers; without it the three of the definition.', 'a map of tiers'),
  contribution_cadence_bars: z
    .int()
    .min(1)
    .max(MAX_CADENCE_BARS)
    .meta({
      description: 'Bars from one contribution to the next.',
      expected: `a whole number of bars from 1 to ${MAX_CADENCE_BARS}`,
    }),
  costs: map('What a purchase costs.', 'a map with fee_bps and slippage_bps'),
  reference_equity_usd: z.number().min(1).max(1e12).default(100_000).meta({
    description: 'Equity of the reference basket in dollars.',
    expected: 'an amount in dollars from 1 to 1e12',
  }),
  paused: z
    .array(z.unknown())
    .nullable()
    .default([])
    .meta({ description: 'Spans in which nothing is bought.', expected: 'a list of spans' }),
  tv_status: tvStatus,
})

/** Entitlements name the program and the strategies in one map, so no two may share a name. */
const alias = (ids: readonly string[]) =>
  z
    .string()
    .regex(ID_PATTERN)
    .superRefine((name, context) => {
      const taken = name === RESERVED_ALIAS ? 'which is reserved' : ids.includes(name) ? 'a strategy' : null
      if (taken === null) return
      const sentence = `expected an alias of its own, got ${got(name)}, ${taken}: choose another`
      context.addIssue({ code: 'custom', params: { sentence } })
    })
    .meta({
      description: 'Public alias of the program.',
      expected:
        'an alias of 1 to 64 lower-case letters, digits, dashes and underscores that begins with a letter or digit',
    })

export const windowShape = { from: day('First planned day.'), to: day('Last planned day.') }

export const costsShape = {
  fee_bps: basisPoints('Fee of a purchase in basis points of its dollars.'),
  slippage_bps: basisPoints('Slippage of a purchase in basis points, always against the buyer.'),
}

export const tiersShape = {
  core: optionalMap('Spends everything on each contribution bar.', 'a map with a weight'),
  cyclical: optionalMap('Spends by the Mayer multiple.', 'a map with a weight'),
  tactical: optionalMap('Spends on dips.', 'a map with a weight'),
}

const weight = z.number().gt(0).max(1).meta({
  description: 'Fraction of every contribution that the tier gets; together they are 1.',
  expected: 'a fraction above 0 and at most 1',
})

export const tierShapes = {
  core: { weight },
  cyclical: { weight, bands: list('Ascending bands.', `a list of 1 to ${MAX_STEPS} bands`) },
  tactical: { weight, steps: list('Ascending steps.', `a list of 1 to ${MAX_STEPS} steps`) },
} as const

const spend = z.number().min(0).max(1).meta({
  description: 'Fraction of the cash of the tier.',
  expected: 'a fraction from 0 to 1 of the cash of the tier',
})

export const bandShape = {
  below: z.number().gt(0).max(100).meta({
    description: 'The band holds where the Mayer multiple is below this.',
    expected: 'a Mayer multiple above 0 and at most 100',
  }),
  spend,
}

export const stepShape = {
  drawdown: z.number().gt(0).lt(1).meta({
    description: 'Depth below the running high.',
    expected: 'a fraction above 0 and below 1 (0.2 = 20 % below the running high)',
  }),
  spend,
}

export const spanShape = {
  from: day('First day on which nothing is bought.'),
  to: day('Last such day; without it the span goes on.').nullable().default(null),
}
