/**
 * Why JSON would not give the value back as it is, or null where it would: a sentence part such as
 * `.window is a Float64Array`. Plain objects, arrays, strings, booleans, null and finite numbers pass.
 */
export function describePlainJsonFault(value: unknown, path = 'the state'): string | null {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return null
    case 'number':
      return Number.isFinite(value) ? null : `${path} is ${value}`
    case 'object':
      return value === null ? null : describeObjectFault(value, path)
    default:
      return `${path} is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`
  }
}

function describeObjectFault(value: object, path: string): string | null {
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = Array.isArray(value) || prototype === Object.prototype || prototype === null
  if (!isPlain) return `${path} is a ${value.constructor?.name ?? 'class instance'}`
  for (const [key, member] of Object.entries(value)) {
    const fault = describePlainJsonFault(member, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`)
    if (fault !== null) return fault
  }
  return null
}
