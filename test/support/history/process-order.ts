import { z } from 'zod'

const order = z.object({
  redisUrl: z.string(),
  /** The private store of the service. */
  privateFolder: z.string(),
  pace: z.object({ flightMs: z.number(), pollEveryMs: z.number(), leaseMs: z.number() }),
})

/** The argument with which a process of the service starts. */
export type ProcessOrder = z.infer<typeof order>

/** Reads it from an argument. */
export const parseOrder = (text = ''): ProcessOrder => order.parse(JSON.parse(text))
