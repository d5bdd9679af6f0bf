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

test('an unpacked array is a copy of its part of a larger one, also of bytes of Node and of memory that threads share', () => {
  const shared = new Float64Array(new SharedArrayBuffer(64)).fill(1.5)
  const { part, bytes } = unpack<{ part: Float64Array; bytes: Uint8Array }>(
    Buffer.from(pack({ part: shared.subarray(2, 5), bytes: Buffer.from('abc') })),
  )
  expect(part).toEqual(Float64Array.of(1.5, 1.5, 1.5))
  expect(part.buffer.byteLength).toBe(24)
  expect(bytes).toEqual(Uint8Array.of(97, 98, 99))
})

test('packing leaves out a field without a value', () => {
  expect(unpack(pack({ a: undefined, b: [1] }))).toEqual({ b: [1] })
})
