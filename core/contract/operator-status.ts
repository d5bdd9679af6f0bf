// What the operator's interface answers of the whole service and of the live strategies: the shapes of `data`.
import { z } from 'zod'
import { alias, count, instant } from './operator-answers.ts'
import { MODES } from './signal.ts'

const liveStatus = z.object({
  alias,
  last_bar_close: instant.nullable().describe('Close of the newest bar that it has decided on, or null.'),
  live_from: instant
    .nullable()
    .describe('Bars that close from then on are decided live; null before the first.'),
  mode: z.enum(MODES).describe('What was ordered: a strategy whose catalogue says DRY_RUN stays so.'),
  halted: z.boolean().describe('Whether its entries are held back.'),
})

const halted = z.array(z.string()).describe('Aliases that are halted; `*` stands for all.')

export const liveStrategies = z.object({
  halted,
  strategies: z.array(liveStatus).describe('Those that have ever run live.'),
})

export const serviceStatus = z.object({
  seq: count.describe('Number of the newest signal.'),
  epoch: z.string().describe('Names this history of the log.'),
  redis: z
    .object({
      version: z.string().describe('Its version.'),
      used_bytes: count.describe('Memory that it takes.'),
      limit_bytes: count.describe('0 where it has no limit.'),
      writing: z.boolean().describe('False where it cannot write.'),
      problems: z.array(z.string()).describe('Settings under which it could lose an acknowledged signal.'),
    })
    .describe('What holds the log.'),
  relay: z
    .object({
      lag: z.int().describe('Signals that wait for the relay.'),
      running: z.boolean().describe('Whether a process holds it.'),
    })
    .describe('What takes each signal from the log to the clients.'),
  queue: z
    .object({
      fast: count.describe('To receivers that answer quickly.'),
      slow: count.describe('To receivers that are slow or fail.'),
    })
    .describe('Calls that wait in each lane.'),
  clients: z
    .object({ total: count.describe('All.'), active: count.describe('Those that are switched on.') })
    .describe('How many clients there are.'),
  webhooks: z
    .object({
      enabled: count.describe('Those that are sent to.'),
      disabled: count.describe('Those that are not.'),
      failing: count.describe('Those to which no delivery succeeds at present.'),
      owed: count.describe('Deliveries to come, over all of them.'),
    })
    .describe('How the webhooks stand.'),
  halted,
  live: z.array(liveStatus).describe('The strategies that have ever run live.'),
})
