import { expect, test } from 'vitest'
import { toAnswerBytes } from '#storage/json-bytes.ts'

test.each([Number.NaN, Number.POSITIVE_INFINITY])('the number %s is never sent as a silent null', value => {
  expect(() => toAnswerBytes({ data: [{ price: value }] })).toThrow('price must be a finite number')
})
