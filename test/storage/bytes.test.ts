import { expect, test } from 'vitest'
import { toAnswerBytes, toJsonBytes } from '#storage/json-bytes.ts'

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

test('JSON that is stored for people has a value a line, and JSON that is sent as it is stored has one line in all', () => {
  expect(text(toJsonBytes({ a: [1] }))).toBe('{\n "a": [\n  1\n ]\n}\n')
  expect(text(toAnswerBytes({ a: [1], b: 'x' }))).toBe('{"a":[1],"b":"x"}')
})

test.each([Number.NaN, Number.POSITIVE_INFINITY])('the number %s is never sent as a silent null', value => {
  expect(() => toAnswerBytes({ data: [{ price: value }] })).toThrow('price must be a finite number')
})
