import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { TwinCoding } from '#core/contract/artifacts.ts'
import type { Effort } from '#core/contract/effort.ts'
import type { Format } from '#core/contract/parameters.ts'

/**
 * On an export of 25 MB Brotli 11 would take minutes, so above this every file is made with the levels of `LARGE`. Gzip 9
 * takes 4 % off such an export, and four times as long as gzip 6.
 */
const SMALL_BELOW_BYTES = 1 << 20

type Levels = { readonly br: number; readonly gzip: number }

const LARGE: Levels = { br: 5, gzip: 6 }
/** A fifth off what pages ask for again and again, the JSON of one strategy; exports and CSV are downloaded once. */
const GOOD: Levels = { br: 10, gzip: 6 }
const PAGE_BELOW_BYTES = 1 << 18
/** Gzip 4 takes 40 % of the time of 6, for 6 % more bytes; nearly everyone is sent the other twin. */
const QUICK: Levels = { br: 5, gzip: 4 }

/** Brotli 6 to 9 are slower than 5 and no smaller on numbers, so there are three levels and no more. */
function levelsOf(effort: Effort, format: Format, bytes: number): Levels {
  if (effort === 'quick') return QUICK
  if (bytes >= SMALL_BELOW_BYTES) return LARGE
  if (effort === 'best') return { br: 11, gzip: 9 }
  return format === 'json' && bytes < PAGE_BELOW_BYTES ? GOOD : LARGE
}

/** The bytes of an artifact in a coding. */
export type Twin = { readonly coding: TwinCoding; readonly bytes: Uint8Array }

/** The precompressed twins of an artifact. Same bytes and effort in, same bytes out. */
export function compressTwins(bytes: Uint8Array, format: Format, effort: Effort): Twin[] {
  const levels = levelsOf(effort, format, bytes.length)
  const br = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: levels.br,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
  return [
    { coding: 'br', bytes: br },
    { coding: 'gzip', bytes: gzipSync(bytes, { level: levels.gzip }) },
  ]
}
