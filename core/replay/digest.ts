// FNV-1a with 64 bits, as two halves of 32: JavaScript has no wider integer that is fast.
const OFFSET_HIGH = 0xcbf29ce4
const OFFSET_LOW = 0x84222325
// The prime is 2^40 + 0x1b3: the product is the text's hash times 0x1b3, plus itself shifted by 40 bits.
const PRIME_LOW = 0x1b3

/**
 * A digest of the text, 16 hex digits: FNV-1a over its UTF-16 code units (source: Fowler, Noll, Vo). It shows
 * whether two computations have the same result; it is not a cryptographic digest. O(n).
 */
export function digestText(text: string): string {
  let high = OFFSET_HIGH
  let low = OFFSET_LOW
  for (let i = 0; i < text.length; i++) {
    low = (low ^ text.charCodeAt(i)) >>> 0
    const product = low * PRIME_LOW
    const carry = Math.floor(product / 2 ** 32)
    high = (Math.imul(high, PRIME_LOW) + carry + (low << 8)) >>> 0
    low = product >>> 0
  }
  return hex(high) + hex(low)
}

const hex = (word: number): string => word.toString(16).padStart(8, '0')
