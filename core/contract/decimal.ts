/**
 * The shortest decimal that reads back as the same number, never with an exponent: `0.00000012`, `250`.
 * Throws on a number that is not finite: every published number passes here, and NaN must never leave.
 */
export function toText(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`refusing to publish the number ${value}`)
  const text = String(value)
  if (!text.includes('e')) return text // nearly always: an export has millions
  const [digits = '', exponent] = text.split('e')
  const sign = digits.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = digits.slice(sign.length).split('.')
  const shift = Number(exponent)
  return shift < 0
    ? `${sign}0.${'0'.repeat(-shift - 1)}${whole}${fraction}`
    : `${sign}${whole}${fraction}${'0'.repeat(shift - fraction.length)}`
}
