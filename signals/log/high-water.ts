// A mark in the private store, never below a number that was given: a log that was restored from an old copy, or lost its
// end, continues above it, because it cannot know what was given later.
import { z } from 'zod'
import { readSound, replaceDocument } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'

const KEY = 'signals/high-water.json'
const LOG_END_KEY = 'signals/log-end.json'
const CLOSED_KEY = 'signals/closed.json'
const TRIAL_KEY = 'signals/trial.json'

/** Numbers marked ahead at once: one write to the store per this many signals. */
export const MARK_AHEAD = 1_000

/** `giver` may give numbers up to the mark, or several processes may; `id` is of this write. */
const mark = z.object({ seq: z.int().min(0), giver: z.string().optional(), id: z.string().optional() })
type Mark = z.infer<typeof mark>

/** In the place of the process that gives numbers, if more than one does. */
export const SEVERAL = 'several'

/** The number that no given one exceeds; 0 if none was given. */
export const readHighWater = async (privateStore: ObjectStore): Promise<number> =>
  (await readPromise(privateStore)).least

/** The mark as it was written last, and the number that was the last one if a clean stop has taken back the rest. */
export async function readPromise(privateStore: ObjectStore) {
  const found = await readMark(privateStore, KEY, 'N above every number that was delivered')
  const closed = await readMark(privateStore, CLOSED_KEY, 'N the number of the newest signal')
  const isClosed = found.id !== undefined && closed.id === found.id
  return { ...found, isClosed, least: isClosed ? closed.seq : found.seq }
}

/**
 * A number that the log had reached some seconds ago: a log that ends below it has lost its end. 0 if none; never
 * above the mark.
 */
export const readLogEnd = async (privateStore: ObjectStore): Promise<number> =>
  (await readMark(privateStore, LOG_END_KEY, 'N the number of the newest signal')).seq

const readMark = async (privateStore: ObjectStore, key: string, which: string): Promise<Mark> =>
  (await readSound(privateStore, key, mark, `is damaged: write {"seq": N} there, ${which}`)) ?? { seq: 0 }

/**
 * The number above which a restored log continues. Several processes move the mark, and one with an older reading may
 * write a lower one over a higher, by less than what each marks ahead.
 */
export const aboveHighWater = (mark: number): number => (mark === 0 ? 0 : mark + MARK_AHEAD)

/** More numbers than are given between two backups. The mark may be as old as one: that of a copied store. */
export const UNKNOWN_AHEAD = 1_000_000

export function createHighWater(privateStore: ObjectStore) {
  let noted = 0
  const write = (key: string, seq: number, more: Omit<Mark, 'seq'> = {}): Promise<unknown> =>
    replaceDocument(privateStore, key, { seq, ...more })
  /** Moves the mark ahead of a number that was given, if it is below. */
  const cover = async (seq: number): Promise<void> => {
    if (seq > (await readHighWater(privateStore))) await write(KEY, seq + MARK_AHEAD)
  }
  return {
    cover,
    /** Records a number that the log has reached, for a more exact check at the next start. */
    async noteEnd(seq: number): Promise<void> {
      if (seq <= noted) return
      await cover(seq) // first: a restored log continues above the mark and must not end below this
      await write(LOG_END_KEY, seq)
      noted = seq
    },
    /** Throws if the store takes no mark. Beside the marks: one that is moved without a promise says that numbers were given. */
    tryWriting: (): Promise<unknown> => write(TRIAL_KEY, 0),
    /** Writes the mark anew, so that no stop that began before takes it back; moves it ahead as `cover`. Returns it. */
    async promise(seq: number, newest: number, giver: string, id: string): Promise<number> {
      const found = await readPromise(privateStore)
      const ahead = seq <= found.least ? found.seq : Math.max(seq, newest + MARK_AHEAD, found.seq)
      await write(KEY, ahead, { giver, id })
      return ahead
    },
    /** Takes back what is above the last number, unless the mark was written again meanwhile. */
    async close(seq: number, id: string): Promise<void> {
      await write(LOG_END_KEY, seq)
      await write(CLOSED_KEY, seq, { id })
    },
  }
}
