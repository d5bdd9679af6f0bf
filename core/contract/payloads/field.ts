// Field types that many payloads share.
import { z } from 'zod'

export const isoDate = (about: string) => z.string().meta({ format: 'date' }).describe(about)
export const percent = (about: string) => z.number().describe(`${about} Percent, 6 decimals.`)
export const ratio = (about: string) => z.number().describe(`${about} 6 decimals.`)
export const fraction = (about: string) => z.number().describe(`${about} A fraction: 0.02 = 2 %.`)
export const strategyId = z
  .string()
  .describe('Alias of the strategy. It names a tree or a river, never the mechanism.')

export const dateWindow = (about: string) =>
  z
    .looseObject({
      from: isoDate('First UTC day, inclusive.').nullable(),
      to: isoDate('Last UTC day, inclusive.').nullable(),
    })
    .describe(about)
