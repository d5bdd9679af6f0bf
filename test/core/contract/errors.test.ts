import { expect, test } from 'vitest'
import { ApiError, type ErrorCode, STATUS_OF } from '#core/contract/errors.ts'

test('the table of error codes is closed: a code that is added, dropped or moved to another status is a change of the contract', () => {
  const byStatus = Object.groupBy(Object.entries(STATUS_OF), ([, status]) => status)
  const codes = Object.entries(byStatus).map(([status, entries = []]) => [
    Number(status),
    ...entries.map(([code]) => code),
  ])
  expect(codes).toEqual([
    [400, 'bad_request'],
    [401, 'unauthorized'],
    [403, 'forbidden', 'account_not_active', 'not_entitled'],
    [404, 'not_found', 'profile_not_set'],
    [405, 'method_not_allowed'],
    [409, 'conflict'],
    [410, 'gone'],
    [413, 'payload_too_large'],
    [414, 'uri_too_long'],
    [415, 'unsupported_media_type'],
    [422, 'validation_error'],
    [429, 'rate_limited'],
    [500, 'internal_error'],
    [503, 'not_ready', 'unavailable', 'overloaded'],
  ])
})

test('an error of any code has null details and no headers unless it is given some', () => {
  const codes = Object.keys(STATUS_OF) as ErrorCode[] // the keys of the literal
  for (const code of codes) {
    expect(new ApiError(code, 'a sentence')).toMatchObject({ code, details: null, headers: {} })
  }
})
