import type { Side } from '#core/replay/strategy.ts'
import { parseDecimal } from '../book/cell.ts'
import { got } from '../book/field.ts'

/** A decimal as tables from elsewhere spell it: also with a plus, or with the minus sign U+2212. NaN for any other text. */
export const parseForeignDecimal = (text: string): number =>
  parseDecimal(text.replace(/^\+/, '').replace(/^\u2212/, '-'))

/** Why a text is no decimal: which other spelling it has, and what to do about it. */
export function explainDecimal(text: string, expected: string): string {
  const [, spelling] = SPELLINGS.find(([pattern]) => pattern.test(text)) ?? []
  return `expected ${expected}, got ${got(text)}${spelling === undefined ? '' : `, which has ${spelling}`}`
}

const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [
    /^[-+\u2212]?[1-9]\d{0,2}(?:[,' \u00a0]\d{3})+(?:\.\d+)?$/,
    'thousands separators: export the numbers without them',
  ],
  [/^[-+\u2212]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+$/, 'a decimal comma: export decimals with a point'],
  [
    /^[-+\u2212]?[\d.]+\s*%$/,
    'a percent sign: state --unit percent if it is a return, and otherwise export the number alone',
  ],
  [/^[^\d]*[-+\u2212]?[\d.,]+\s*[^\d]*$/, 'a unit: export the number alone'],
]

// Words of files from elsewhere, in any case. The lists are closed: another word is refused, never guessed.

/** Reads a column of words: what each means; null if the cell is blank, undefined if it is another word. */
const reader =
  <Value>(words: RegExp, value: Value, others: RegExp, other: Value) =>
  (text: string): Value | null | undefined =>
    text === '' ? null : words.test(text) ? value : others.test(text) ? other : undefined

export const toFlag = reader(/^(?:true|1|yes)$/i, true, /^(?:false|0|no)$/i, false)
export const toOpen = reader(/^(?:true|1|yes|open)$/i, true, /^(?:false|0|no|closed)$/i, false)
export const toSide = reader<Side>(/^(?:long|buy)$/i, 'long', /^(?:short|sell)$/i, 'short')
