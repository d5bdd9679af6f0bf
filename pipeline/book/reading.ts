import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Input } from './book.ts'
import type { ProblemList } from './problem.ts'

/** One reading of a book: its folder, and what is collected. */
export type Reading = {
  readonly dir: string
  readonly problems: ProblemList
  readonly inputs: Input[]
  /** Called with the path of each file before it is read. */
  readonly onFile: (path: string) => void
}

/** The file's place on the disk. */
export const placeOf = (reading: Reading, path: string): string => join(reading.dir, path)

/** The catalogue of a thousand strategies has less than 1 MB; what is larger was not written by people. */
const MAX_WHOLE_BYTES = 16_000_000

/** Reads a small file whole and records it as an input; null, with a problem, if it cannot be read. */
export async function readWhole(reading: Reading, path: string): Promise<Buffer | null> {
  reading.onFile(path)
  const refuse = (message: string): null => {
    reading.problems.add({ file: path, message })
    return null
  }
  try {
    const bytes = await readFile(placeOf(reading, path))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    reading.inputs.push({ path, bytes: bytes.length, sha256, rows: null })
    if (bytes.length <= MAX_WHOLE_BYTES) return bytes
    return refuse(`expected at most ${MAX_WHOLE_BYTES} bytes, got ${bytes.length}`)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    return refuse(`expected a file that can be read, got another thing (${error.message})`)
  }
}
