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
