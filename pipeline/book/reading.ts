import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { sha256 } from '#storage/digest.ts'
import type { Input } from './book.ts'
import { createProblemList, type ProblemList } from './problem.ts'

export type Reading = {
  readonly dir: string
  readonly problems: ProblemList
  readonly inputs: Input[]
  /** A bar that ends later is not over. */
  readonly nowMs: number
  /** The bytes of the one file, if it is not on the disk. */
  readonly held: Buffer | null
}

/** A new reading of a folder. Without a clock every bar is over. */
export function createReading(dir: string, given: Partial<Pick<Reading, 'nowMs' | 'held'>> = {}): Reading {
  const { nowMs = Number.POSITIVE_INFINITY, held = null } = given
  return { dir, nowMs, held, problems: createProblemList(), inputs: [] }
}

/** Adds problems of a file, in a row or in all of it; returns null, as a reader of the file then does. */
export const reporterOf =
  ({ problems }: Reading, file: string) =>
  (message: string, row: number | null = null): null => {
    problems.add({ file, message, ...(row === null ? {} : { row }) })
    return null
  }

export type Report = ReturnType<typeof reporterOf>

/** What a decoder puts in place of bytes that are not UTF-8. */
export const NOT_UTF8 = '\uFFFD'

export const placeOf = (reading: Reading, path: string): string => resolve(reading.dir, path)

/** The catalogue of a thousand strategies has less than 1 MB; what is larger was not written by people. */
const MAX_WHOLE_BYTES = 16_000_000

/** Reads a small file whole and records it as an input; null, with a problem, if it cannot be read. */
export async function readWhole(reading: Reading, path: string): Promise<Buffer | null> {
  const refuse = reporterOf(reading, path)
  try {
    const bytes = await readFile(placeOf(reading, path))
    reading.inputs.push({ path, bytes: bytes.length, sha256: sha256(bytes), rows: null })
    if (bytes.length <= MAX_WHOLE_BYTES) return bytes
    return refuse(`expected at most ${MAX_WHOLE_BYTES} bytes, got ${bytes.length}`)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    return refuse(`expected a file that can be read, got another thing (${error.message})`)
  }
}
