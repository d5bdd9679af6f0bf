import { ApiError } from '#core/contract/errors.ts'

/** A longer address is refused: the longest legal one, a subset of a hundred ids, stays far below. */
export const LONGEST_URL = 8192

/** Throws `uri_too_long` on an address that no request of ours needs. */
export function assertUrlLength(url: string): void {
  if (url.length <= LONGEST_URL) return
  throw new ApiError('uri_too_long', `the address is longer than ${LONGEST_URL} characters`)
}
