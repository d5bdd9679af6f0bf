// Text that can be made at once or block by block: one function writes it, and pauses where a block is full.
import { type ByteWriter, createWriter, finish, written } from './byte-writer.ts'

/** Writes a text. It yields wherever `out` holds `blockBytes` and more, and may be emptied before it goes on. */
export type Writing = (out: ByteWriter, blockBytes: number) => Steps

export type Steps = Generator<void, void, void>

/** A block takes some 5 ms to write, and as long nobody else is answered; it is 500 blocks for a thousand strategies. */
export const BLOCK_BYTES = 1 << 17

/** The row that fills a block goes past its size; a longer one takes more memory. */
const LAST_ROW_BYTES = 1 << 15

/** The whole text. */
export const writeWhole = (writing: Writing): Uint8Array<ArrayBuffer> =>
  written(out => {
    writing(out, Number.POSITIVE_INFINITY).next() // without a size it never pauses
  })

/**
 * The same bytes in blocks of `blockBytes` and a row at the most, each made when it is asked for. A text of nothing has
 * no block. Throws, at the block that holds it, what writing the whole would throw.
 */
export function* writeBlocks(
  writing: Writing,
  blockBytes: number = BLOCK_BYTES,
): Generator<Uint8Array<ArrayBuffer>, void, void> {
  const out = createWriter(blockBytes + LAST_ROW_BYTES)
  for (const _ of writing(out, blockBytes)) {
    yield finish(out)
    out.length = 0
  }
  if (out.length > 0) yield finish(out)
}
