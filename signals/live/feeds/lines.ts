import type { Bar } from '#core/replay/strategy.ts'
import { FeedError } from '../admit-bar.ts'
import { type NewBarReader, toBar } from './feed.ts'

/** A row of numbers has about 100 characters; without line breaks a whole feed would be gathered as one line. */
const MAX_LINE_BYTES = 4_096

/** The bars in a stream of bytes. What stands behind the last line break is half a line, and no bar. */
export async function* barsOfChunks(
  name: string,
  chunks: AsyncIterable<Buffer>,
  newReader: NewBarReader,
): AsyncIterable<Bar> {
  const read = newReader()
  let rest: Buffer = Buffer.alloc(0)
  let lines = 0
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      lines++
      const bar = toBar(name, read(bytes.toString('utf8', start, end).replace(/\r$/, '')), lines)
      if (bar !== null) yield bar
      start = end + 1
    }
    rest = bytes.subarray(start)
    if (rest.length > MAX_LINE_BYTES) {
      throw new FeedError(
        name,
        `line ${lines + 1} has more than ${MAX_LINE_BYTES} bytes: it is no table of bars`,
      )
    }
  }
}

const LF = 0x0a
