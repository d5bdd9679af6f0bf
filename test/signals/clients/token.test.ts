import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createToken, digestOf, keyIdOf, matchesDigest, parseToken } from '#signals/clients/token.ts'
import { forAll } from '#test/support/for-all.ts'
import { seededBytes } from '../../support/signals/signals.ts'

const made = createToken(seededBytes('token'))

/** Bytes from a generator of the test, whatever was asked for. */
const tokenOf = (bytes: Uint8Array) => createToken(size => bytes.subarray(0, size))

const arbitraryBytes = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('a token has the form that scanners look for, and its own id in it', () => {
  expect(made.token).toMatch(/^hw_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/)
  expect(parseToken(made.token)).toEqual({ id: made.id })
})

test('a token is read back from any random bytes, also from the lowest and the highest', () => {
  for (const byte of [0, 255]) {
    const { id, token } = createToken(size => new Uint8Array(size).fill(byte))
    expect(parseToken(token)).toEqual({ id })
  }
  forAll(arbitraryBytes, bytes => {
    const { id, token } = tokenOf(bytes)
    expect(parseToken(token)).toEqual({ id })
  })
})

test('a token carries all 256 bits: other random bytes, another secret', () => {
  forAll(arbitraryBytes, fc.nat(255), (bytes, bit) => {
    const other = bytes.slice()
    other[bit >> 3]! ^= 1 << (bit & 7)
    expect(tokenOf(other).token.slice(17, 60)).not.toBe(tokenOf(bytes).token.slice(17, 60))
  })
})

test('a token with one character changed, dropped or added is refused by its form alone', () => {
  forAll(arbitraryBytes, fc.nat(), fc.constantFrom('0', 'Z', 'a', '_', ' '), (bytes, n, other) => {
    const { token } = tokenOf(bytes)
    const at = n % token.length
    fc.pre(token[at] !== other)
    expect(parseToken(token.slice(0, at) + other + token.slice(at + 1))).toBeNull()
    expect(parseToken(token.slice(0, at) + token.slice(at + 1))).toBeNull()
    expect(parseToken(token.slice(0, at) + other + token.slice(at))).toBeNull()
  })
})

test.each([
  ['nothing', ''],
  ['a word', 'secret'],
  ['a line end behind it', `${made.token}\n`],
  ['two of them', `${made.token}, ${made.token}`],
  ['a key of something else', made.token.replace('hw_live', 'sk_live')],
])('a text that is %s is no token', (_name, text) => {
  expect(parseToken(text)).toBeNull()
})

test.each([
  ['an id', made.id, made.id],
  ['a key', made.token, made.id],
  ['a key that was cut', made.token.slice(0, 30), made.id],
  ['its beginning alone', made.token.slice(0, 16), made.id],
  ['the prefix alone', 'hw_live_', null],
  ['a word', 'acme', null],
  ['nothing', '', null],
  ['two ids', `${made.id}${made.id}`, null],
])('%s that an operator pastes names the id that is in it, or none', (_, text, id) => {
  expect(keyIdOf(text)).toBe(id)
})

test('the digest of a token is the SHA-256 of the whole, and matches it alone, and none matches a key that is not stored', () => {
  expect(digestOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad') // FIPS 180-2, B.1
  const other = createToken(seededBytes('other')).token
  expect(matchesDigest(made.token, digestOf(made.token))).toBe(true)
  expect(matchesDigest(other, digestOf(made.token))).toBe(false)
  expect(matchesDigest(made.token, null)).toBe(false)
  expect(matchesDigest(made.token, '')).toBe(false)
  expect(matchesDigest(made.token, digestOf(made.token).slice(0, 63))).toBe(false)
})
