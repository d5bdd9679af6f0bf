// Faults of ours in a row: they count against no receiver, so this is what makes them wait and be told.
import { LRUCache } from 'lru-cache'

/** Rows that are remembered: faults that are older count from 1 again. */
const MOST_ROWS = 10_000

/** After a fault of ours, such as a resolver that is down, the client is looked at again. */
export const OUR_FAULT_WAIT_MS = 2_000

/** The longest wait after an error of the program: a new release is started within minutes, and finds the signal due. */
const LONGEST_ERROR_WAIT_MS = 300_000

/** What a fault befell: a delivery, or the look at a client itself. */
type Subject = { readonly client: string; readonly seq: number | null }

/** Counts the faults of one process. */
export type Faults = {
  /** Counts one, and gives how many there were in a row with it. */
  readonly count: (subject: Subject) => number
  /** All is well: the row is over. */
  readonly end: (subject: Subject) => void
}

export function createFaults(): Faults {
  const rows = new LRUCache<string, number>({ max: MOST_ROWS })
  const nameOf = ({ client, seq }: Subject): string => `${client} ${seq ?? ''}`
  return {
    count(subject) {
      const inARow = (rows.get(nameOf(subject)) ?? 0) + 1
      rows.set(nameOf(subject), inARow)
      return inARow
    },
    end: subject => void rows.delete(nameOf(subject)),
  }
}

/** The wait after an error of the program, from the first in a row: each is twice as long, up to five minutes. */
export const errorWaitMs = (inARow: number): number =>
  Math.min(OUR_FAULT_WAIT_MS * 2 ** (inARow - 1), LONGEST_ERROR_WAIT_MS)
