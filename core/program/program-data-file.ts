// The data of a program as JSON, without loss, so that a service computes on exactly the data of the build.
import { z } from 'zod'
import type { Bars } from '#core/replay/bars.ts'
import { mark, type ProgramData, programPlan, rolling } from './program.ts'

const prices = z.array(z.number()).transform(values => Float64Array.from(values))

/** JSON has no NaN: a blank volume is null. */
const volumes = z.array(z.number().nullable()).transform(values => Float64Array.from(values, toNumber))

const programDataFile = z
  .object({
    plan: programPlan,
    bars: z.object({
      timeframeMs: z.int(),
      t: prices,
      o: prices,
      h: prices,
      l: prices,
      c: prices,
      v: volumes,
    }),
    first: z.int().min(0),
    bars_planned: z.int().min(1),
    mark: mark.nullable(),
    rolling: rolling.nullable(),
  })
  .refine(({ bars, first }) => hasEqualColumns(bars) && first <= bars.t.length)

/** The data as a JSON value. */
export const toProgramDataFile = ({ bars, ...rest }: ProgramData): object => ({
  ...rest,
  bars: {
    timeframeMs: bars.timeframeMs,
    ...{ t: [...bars.t], o: [...bars.o], h: [...bars.h], l: [...bars.l], c: [...bars.c] },
    v: Array.from(bars.v, volume => (Number.isNaN(volume) ? null : volume)),
  },
})

/** The data in a JSON value, or null if it has another form. */
export const parseProgramDataFile = (value: unknown): ProgramData | null =>
  programDataFile.safeParse(value).data ?? null

const toNumber = (volume: number | null): number => volume ?? Number.NaN

const hasEqualColumns = ({ t, o, h, l, c, v }: Bars): boolean =>
  [o, h, l, c, v].every(({ length }) => length === t.length)
