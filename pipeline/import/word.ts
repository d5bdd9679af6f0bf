import type { Side } from '#core/replay/strategy.ts'

// Words of files from elsewhere, in any case. The lists are closed: another word is refused, never guessed.

/** Reads a column of words: what each means; null if the cell is blank, undefined if it is another word. */
const reader =
  <Value>(words: RegExp, value: Value, others: RegExp, other: Value) =>
  (text: string): Value | null | undefined =>
    text === '' ? null : words.test(text) ? value : others.test(text) ? other : undefined

export const toFlag = reader(/^(?:true|1|yes)$/i, true, /^(?:false|0|no)$/i, false)
/** Whether a trade is open. */
export const toOpen = reader(/^(?:true|1|yes|open)$/i, true, /^(?:false|0|no|closed)$/i, false)
export const toSide = reader<Side>(/^(?:long|buy)$/i, 'long', /^(?:short|sell)$/i, 'short')
