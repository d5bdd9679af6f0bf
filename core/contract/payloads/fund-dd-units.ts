// Units of the fields of `fund_dd`.
import { z } from 'zod'

/** A percent, 6 decimals; null where undefined. */
export const pct = (about: string) => z.number().nullable().describe(`${about} Percent.`)

/** A number without a unit, 6 decimals; null where undefined. */
export const ratioOrNull = (about: string) => z.number().nullable().describe(about)

export const hours = (about: string) => z.number().nullable().describe(`${about} Hours.`)

export const count = (about: string) => z.int().describe(about)

/** A count that a series too short, or ruined, does not have. */
export const countOrNull = (about: string) => z.int().nullable().describe(about)

export const days = (about: string) => z.number().nullable().describe(`${about} Calendar days.`)
