import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestJson, digestText } from '#core/replay/digest.ts'
import { forAll } from '#test/support/for-all.ts'

// The same hash by its definition, in integers without a bound.
function fnv1a(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (let i = 0; i < text.length; i++) {
    hash = ((hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n) & 0xffffffffffffffffn
  }
  return hash.toString(16).padStart(16, '0')
}

test('a digest has the published values of FNV-1a', () => {
  expect(digestText('')).toBe('cbf29ce484222325')
  expect(digestText('a')).toBe('af63dc4c8601ec8c')
  expect(digestText('foobar')).toBe('85944171f73967e8')
})

test('a digest is FNV-1a on any text', () => {
  forAll(fc.array(fc.integer({ min: 0, max: 0xffff })), units => {
    const text = String.fromCharCode(...units)
    expect(digestText(text)).toBe(fnv1a(text))
  })
})

test('a digest depends on the last bit of a number', () => {
  expect(digestJson([0.1 + 0.2])).not.toBe(digestJson([0.3]))
})
