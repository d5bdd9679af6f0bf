// API keys as text: `hw_live_<8 id>_<43 secret>_<6 checksum>`, in base 62. The prefix is for secret scanners,
// the checksum rejects a mistyped key without a lookup, the id may be logged.
import { timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { sha256 } from '#storage/digest.ts'

export type RandomBytes = (size: number) => Uint8Array

const PREFIX = 'hw_live_'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const ID_DIGITS = 8
/** 62^8 ids: public, so they need to be unique, not random. */
const ID_BYTES = 6

/** 256 bits: 62^43 is just above 2^256. */
const SECRET_DIGITS = 43
const SECRET_BYTES = 32

/** 62^6 is above 2^32. */
const CHECKSUM_DIGITS = 6

const FORM = new RegExp(
  `^(${PREFIX}([0-9A-Za-z]{${ID_DIGITS}})_[0-9A-Za-z]{${SECRET_DIGITS}})_([0-9A-Za-z]{${CHECKSUM_DIGITS}})$`,
)

/** A new API key; the token is for its owner only. */
export function createToken(random: RandomBytes) {
  const id = toBase62(toInteger(random(ID_BYTES)) % 62n ** BigInt(ID_DIGITS), ID_DIGITS)
  const body = `${PREFIX}${id}_${toBase62(toInteger(random(SECRET_BYTES)), SECRET_DIGITS)}`
  return { id, token: `${body}_${checksumOf(body)}` }
}

/** The public id of a key, or null if the text is malformed or mistyped. */
export function parseToken(text: string): { readonly id: string } | null {
  const [, body = '', id = '', checksum] = FORM.exec(text) ?? []
  return checksum !== undefined && checksumOf(body) === checksum ? { id } : null
}

/**
 * The public id in what an operator types or pastes: an id, or a key, whole or cut after its id, as leaked ones
 * appear in logs. Null if there is none.
 */
export const keyIdOf = (text: string): string | null => KEY_PATTERN.exec(text)?.[1] ?? null

export const KEY_PATTERN = new RegExp(`^(?:${PREFIX})?([0-9A-Za-z]{${ID_DIGITS}})(?:_[0-9A-Za-z_]*)?$`)

/** What is stored of a key: the SHA-256 of the whole token, in hex. */
export const digestOf = (token: string): string => sha256(token)

/** Compared with if there is no digest, so that both cases take the same time. */
const NO_DIGEST = '0'.repeat(64)

/** Compares a token with its stored digest in constant time; false if there is none. */
export function matchesDigest(token: string, stored: string | null): boolean {
  const expected = Buffer.from(stored ?? NO_DIGEST, 'latin1')
  const found = Buffer.from(digestOf(token), 'latin1')
  return found.length === expected.length && timingSafeEqual(found, expected) && stored !== null
}

/** Keys, operator tokens, links and secrets of webhooks in a text. */
export const OUR_SECRETS = /\b(?:whsec|hw_live|hw_test|hw_op|hw_link)_[\w+/=%-]*/g

const checksumOf = (body: string): string => toBase62(BigInt(crc32(body)), CHECKSUM_DIGITS)

const toInteger = (bytes: Uint8Array): bigint =>
  bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

function toBase62(value: bigint, digits: number): string {
  let text = ''
  for (let rest = value; text.length < digits; rest /= 62n) text = DIGITS[Number(rest % 62n)]! + text
  return text
}
