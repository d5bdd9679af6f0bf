/** What `toEqual` and `toMatchObject` take for this value: its numbers may differ by a part of themselves, or of `least`, outside typed arrays. */
export function near(value: unknown, tolerance = 1e-9, least = 1): unknown {
  if (typeof value === 'number') return nearNumber(value, tolerance, least)
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  if (Array.isArray(value)) return value.map(each => near(each, tolerance, least))
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, near(each, tolerance, least)]))
}

const nearNumber = (expected: number, tolerance: number, least: number) => ({
  asymmetricMatch: (actual: unknown): boolean =>
    Object.is(actual, expected) ||
    Math.abs(Number(actual) - expected) <= tolerance * Math.max(least, Math.abs(expected)),
  toString: () => `near ${expected}`,
})
