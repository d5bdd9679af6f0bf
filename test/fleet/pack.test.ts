import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pack, unpack } from '#fleet/pack.ts'
import { forAll } from '#test/support/for-all.ts'

const numbers = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(-0, Number.NaN, Infinity, -Infinity))

const leaves = fc.oneof(
  numbers,
  fc.string({ unit: 'grapheme' }),
  fc.boolean(),
  fc.constant(null),
  fc.float64Array({ noNaN: false }),
  fc.int32Array(),
  fc.uint8Array(),
)

const values = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaves,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 5 }), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 3 }).map(entries => new Map(entries)),
  ),
})).value

test('what was packed is the same when it is unpacked, and equal values have equal bytes', () => {
  forAll(500, values, value => {
    const packed = pack(value)
    const copy = unpack(packed)
    expect(copy).toEqual(value)
    expect(Buffer.compare(pack(copy), packed)).toBe(0)
  })
})
