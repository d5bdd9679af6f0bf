// The content coding `dcz` (RFC 9842): Zstandard with an older answer as the dictionary.
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'

/** A skippable frame of 32 bytes, which any Zstandard decoder passes over; the digest of the dictionary is in it. */
const HEADER = Uint8Array.of(0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0)

/** The window that every decoder must have room for, or a quarter more than the dictionary where that is larger. */
const CERTAIN_WINDOW_BYTES = 8 << 20
const WINDOW_TO_DICTIONARY = 1.25

/** Larger answers are sent whole: the tables over a dictionary of this size take 128 MB while a delta is made. */
const LARGEST_BYTES = 16 << 20

/**
 * The plainest search, with a table that has room for every place of the dictionary. The tables of the ordinary levels
 * forget the beginning of a dictionary of some megabytes, and a delta of 1 kB becomes one of 1 MB
 * (docs/decisions/2026-11-21-dictionary-deltas.md).
 */
const SEARCH = { [constants.ZSTD_c_strategy]: constants.ZSTD_fast, [constants.ZSTD_c_minMatch]: 7 }

/** Whether a decoder can reach the whole dictionary from everywhere in an answer: its window must span the answer. */
export const spansWindow = (answerBytes: number, dictionaryBytes: number): boolean =>
  Math.max(answerBytes, dictionaryBytes) <= LARGEST_BYTES &&
  answerBytes <= Math.max(CERTAIN_WINDOW_BYTES, WINDOW_TO_DICTIONARY * dictionaryBytes)

/** What the library asks for at the least, and a little more. */
const SMALLEST_TABLE = 1 << 12

const compress = promisify(zstdCompress)

/**
 * An answer as a delta to a dictionary whose digest (hex) is known; `spansWindow` must hold. The frame is one segment:
 * its window is the answer itself.
 */
export async function encodeDelta(
  answer: Uint8Array,
  dictionary: Uint8Array,
  dictionarySha256: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const sizeLog = Math.ceil(Math.log2(Math.max(answer.length, dictionary.length, SMALLEST_TABLE)))
  const options = {
    dictionary,
    pledgedSrcSize: answer.length, // makes the frame one segment: else its window is a power of two, and too large
    params: {
      ...SEARCH,
      [constants.ZSTD_c_hashLog]: sizeLog,
      [constants.ZSTD_c_windowLog]: sizeLog,
    },
  }
  const frame = await compress(answer, options)
  return Uint8Array.from(Buffer.concat([HEADER, Buffer.from(dictionarySha256, 'hex'), frame]))
}
