/** Throws unless `value` is a positive finite number. `what` says what it is and how it comes about. */
export function assertPositive(value: number, what: string): void {
  if (value > 0 && value < Infinity) return
  throw new RangeError(`${what} must be a positive finite number, got ${value}; mend it where it is computed`)
}
