// Secrets at rest: what opens, what does not, and what no error ever says.
import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSecretBox, parseKeyRing, SealError } from '#signals/delivery/secret-box.ts'
import { forAll } from '#test/support/for-all.ts'

/** A key that is easily found again in a message. */
const base64Of = (byte: number): string => Buffer.alloc(32, byte).toString('base64')

const OLD = `old:${base64Of(1)}`
const NEW = `new:${base64Of(2)}`
const boxOf = (ring: string) => createSecretBox(parseKeyRing(ring), randomBytes)

const CONTEXT = { client: 'acme', field: 'secrets' }

const messageOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    return inspect(error)
  }
  throw new Error('nothing was thrown')
}

test('a sealed secret opens to the same text, whatever it holds, and never looks the same twice', () => {
  const box = boxOf(NEW)
  forAll(fc.string({ unit: 'binary' }), fc.string(), fc.string(), (given, client, field) => {
    const text = given.toWellFormed()
    const sealed = box.seal(text, { client, field })
    expect(box.open(sealed, { client, field })).toBe(text)
    expect(box.seal(text, { client, field })).not.toBe(sealed)
    expect(sealed).toMatch(/^v1\.new\.[\w-]+$/)
  })
})

test('a sealed secret does not open for another client or field, nor if a separator could move between them', () => {
  const box = boxOf(NEW)
  const sealed = box.seal('whsec_x', CONTEXT)
  expect(() => box.open(sealed, { ...CONTEXT, client: 'other' })).toThrow(SealError)
  expect(() => box.open(sealed, { ...CONTEXT, field: 'url' })).toThrow(SealError)
  const joined = box.seal('x', { client: 'a","b', field: 'c' })
  expect(() => box.open(joined, { client: 'a', field: 'b","c' })).toThrow(SealError)
})

test('a sealed secret does not open if any bit of it was changed', () => {
  const box = boxOf(NEW)
  const sealed = box.seal('whsec_secret', CONTEXT)
  const bytes = Buffer.from(sealed.split('.')[2]!, 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    expect(() => box.open(`v1.new.${changed.toString('base64url')}`, CONTEXT)).toThrow(SealError)
  }
})

test.each([
  '',
  'whsec_plain',
  'v1.new',
  'v1.new.',
  'v1.new.AAAA',
  'v2.new.' + 'A'.repeat(60),
  'v1.new.' + 'A'.repeat(60) + '.x',
])('a stored secret of another form is refused with a sentence: %j', sealed => {
  expect(() => boxOf(NEW).open(sealed, CONTEXT)).toThrow('a stored secret is not sealed')
  expect(() => boxOf(NEW).isSealedByNewest(sealed)).toThrow(SealError)
})

test('a key ring opens what an older key sealed, seals with its first, and knows which key sealed what', () => {
  const sealed = boxOf(OLD).seal('whsec_x', CONTEXT)
  const ring = boxOf(`${NEW}, ${OLD}`)
  expect(ring.open(sealed, CONTEXT)).toBe('whsec_x')
  expect(ring.isSealedByNewest(sealed)).toBe(false)
  const again = ring.seal(ring.open(sealed, CONTEXT), CONTEXT)
  expect(ring.isSealedByNewest(again)).toBe(true)
  expect(boxOf(NEW).open(again, CONTEXT)).toBe('whsec_x')
})

test('a key ring that lacks a key names it, and one that has another key under its id says so', () => {
  const sealed = boxOf(OLD).seal('whsec_x', CONTEXT)
  expect(() => boxOf(NEW).open(sealed, CONTEXT)).toThrow('encrypted with the key old, which SECRET_KEY lacks')
  expect(() => boxOf(`old:${base64Of(3)}`).open(sealed, CONTEXT)).toThrow('another key under its id')
})

test.each([
  ['', 'entry 1 is not of the form id:base64'],
  [base64Of(7), 'entry 1 is not of the form id:base64'],
  [`${NEW},${base64Of(7)}`, 'entry 2 is not of the form id:base64'],
  [`${NEW},`, 'entry 2 is not of the form id:base64'],
  [`k 1:${base64Of(7)}`, 'entry 1 is not of the form id:base64'],
  [`k1:${base64Of(7)}:`, 'entry 1 is not of the form id:base64'],
  [`k1:${base64Of(7).slice(0, 24)}`, 'entry 1 holds 18 bytes and must hold 32'],
  [`k1:${base64Of(7)}AAAA`, 'entry 1'],
  [`${NEW},new:${base64Of(7)}`, 'entry 2 has the id of an earlier one'],
])(
  'a key ring that is not valid is refused by its place, and nothing of it is quoted: case %#',
  (ring, expected) => {
    const message = messageOf(() => parseKeyRing(ring))
    expect(message).toContain(expected)
    expect(message).not.toContain(base64Of(7).slice(0, 8))
    expect(message).not.toContain(base64Of(2).slice(0, 8))
  },
)

test('a key ring shows no key and no text, neither printed nor in what it throws', () => {
  const ring = parseKeyRing(NEW)
  const secrets = [
    base64Of(2).slice(0, 12),
    Buffer.alloc(32, 2).toString('hex').slice(0, 12),
    '<Buffer 02 02',
  ]
  const sealed = boxOf(NEW).seal('whsec_hidden', CONTEXT)
  const shown = [
    inspect(ring, { depth: null, showHidden: true }),
    inspect(boxOf(NEW), { depth: null }),
    sealed,
    messageOf(() => boxOf(NEW).open(sealed, { ...CONTEXT, client: 'other' })),
    messageOf(() => boxOf(OLD).open(sealed, CONTEXT)),
  ].join('\n')
  for (const secret of [...secrets, 'whsec_hidden']) expect(shown).not.toContain(secret)
})
