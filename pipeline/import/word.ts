import type { Side } from '#core/replay/strategy.ts'

// Words of files from elsewhere, in any case. The lists are closed: another word is refused, never guessed.

const FLAGS: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  false: false,
  '0': false,
  no: false,
}
const OPEN: Readonly<Record<string, boolean>> = { ...FLAGS, open: true, closed: false }
const SIDES: Readonly<Record<string, Side>> = { long: 'long', buy: 'long', short: 'short', sell: 'short' }

/** The values of a column of words: what each means; null if the cell is blank, undefined if it is another word. */
const reader =
  <Value>(words: Readonly<Record<string, Value>>) =>
  (text: string): Value | null | undefined =>
    text === '' ? null : Object.hasOwn(words, text.toLowerCase()) ? words[text.toLowerCase()] : undefined

export const toFlag = reader(FLAGS)
/** Whether a trade is open. */
export const toOpen = reader(OPEN)
export const toSide = reader(SIDES)
