import { z } from 'zod'
import { privateKey } from '#core/contract/artifacts.ts'
import { parseJson, readDocument } from './json-bytes.ts'
import type { ObjectStore } from './object-store.ts'

export type NightReport = z.infer<typeof nightReport>

const nightReport = z.object({
  outcome: z.enum(['done', 'failed']),
  started_utc: z.string(),
  ended_utc: z.string(),
  error: z.string().nullable().default(null),
  summary: z.object({ missing_bars: z.array(z.string()).default([]) }).nullish(),
})

/** The state of a failing job, in the private store until one succeeds. */
export const FAILING_KEY = 'nights/failing.json'

const failing = z.object({ since: z.string(), cause: z.string() })

/** The night that published a version; null if it was published by hand. */
export async function readNight(privateStore: ObjectStore, version: string): Promise<NightReport | null> {
  const bytes = await privateStore.read(privateKey(version, 'night.json'))
  return bytes === null ? null : nightReport.parse(parseJson(bytes))
}

/** Since when nights fail, and why; null if the last one succeeded. */
export const readFailing = async (privateStore: ObjectStore): Promise<z.infer<typeof failing> | null> =>
  (await readDocument(privateStore, FAILING_KEY, failing)) ?? null
