// Random bytes for published examples: the keys and secrets read as examples, and belong to no client.
import type { RandomBytes } from '#signals/clients/token.ts'

/** Bytes that base64 prints as this word, whatever is asked for: a webhook secret takes 43 letters. */
export const base64Bytes =
  (word: string): RandomBytes =>
  () =>
    Buffer.from(word, 'base64')

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Bytes that an API key prints as these words: the shorter of them as its id of 8 letters, the other as its secret of 43. */
export const base62Bytes =
  (id: string, secret: string): RandomBytes =>
  size => {
    let value = 0n
    for (const digit of size < 8 ? id : secret) value = value * 62n + BigInt(DIGITS.indexOf(digit))
    return Buffer.from(value.toString(16).padStart(2 * size, '0'), 'hex')
  }
