import { createHash } from 'node:crypto'
import {
  BackupError,
  type BackupHeader,
  type BackupRecord,
  parseEnd,
  parseHeader,
  parseRecord,
} from './records.ts'

/** Reads the whole file and gives its header. Throws BackupError where a byte is another or the end is missing. */
export async function checkBackup(lines: AsyncIterable<string>): Promise<BackupHeader> {
  const hash = createHash('sha256')
  let header: BackupHeader | null = null
  let records = -1 // the header is none
  let held: string | null = null
  for await (const line of lines) {
    if (held !== null) {
      hash.update(`${held}\n`)
      records++
      if (header === null) header = parseHeader(held)
      else parseRecord(held)
    }
    held = line
  }
  if (header === null || held === null) throw new BackupError('it is empty, or its end is missing')
  const end = parseEnd(held)
  if (end.records !== records || end.sha256 !== hash.digest('hex'))
    throw new BackupError('its checksum is another')
  return header
}

/** Everything between the first line and the last. */
export async function* recordsOf(lines: AsyncIterable<string>): AsyncGenerator<BackupRecord, void> {
  let held: string | null = null
  let isFirst = true
  for await (const line of lines) {
    if (held !== null) {
      if (!isFirst) yield parseRecord(held)
      isFirst = false
    }
    held = line
  }
}

/** Records in blocks of a size. */
export async function* inBlocks(
  records: AsyncIterable<BackupRecord>,
  size: number,
): AsyncGenerator<readonly BackupRecord[], void> {
  let block: BackupRecord[] = []
  for await (const record of records) {
    block.push(record)
    if (block.length < size) continue
    yield block
    block = []
  }
  if (block.length > 0) yield block
}
