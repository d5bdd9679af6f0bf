// A mark in the private store, always ahead of every number that was delivered: a log that is restored from an old copy
// continues above it, because a copy cannot know what was delivered after it was made.
import { z } from 'zod'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'

const KEY = 'signals/high-water.json'

/** Numbers that are marked ahead at once: one write to the store in so many signals. */
export const MARK_AHEAD = 1_000

const mark = z.object({ seq: z.int().min(0) })

/** The number that no delivered signal exceeds; 0 where nothing was delivered yet. */
export async function readHighWater(privateStore: ObjectStore): Promise<number> {
  const bytes = await privateStore.read(KEY)
  if (bytes === null) return 0
  const parsed = mark.safeParse(parseJson(bytes))
  if (parsed.success) return parsed.data.seq
  throw new Error(
    `${privateStore.url}/${KEY} is damaged: write {"seq": N} there, N above every number that was delivered`,
  )
}

/**
 * The number above which a restored log continues. Several processes move the mark, and one that read it a moment ago may
 * write a lower one over a higher: by less than what each marks ahead.
 */
export const aboveHighWater = (mark: number): number => (mark === 0 ? 0 : mark + MARK_AHEAD)

/** Moves the mark ahead of numbers that are about to be delivered. */
export type HighWater = { readonly cover: (seq: number) => Promise<void> }

export function createHighWater(privateStore: ObjectStore): HighWater {
  let marked: number | null = null
  return {
    async cover(seq) {
      if (marked !== null && seq <= marked) return
      marked = await readHighWater(privateStore) // another process may have moved it
      if (seq <= marked) return
      const next = seq + MARK_AHEAD
      await privateStore.replace(KEY, toJsonBytes({ seq: next }), { content_type: 'application/json' })
      marked = next
    },
  }
}
