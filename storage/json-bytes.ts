/** A JSON document as it is stored: a value a line, and a line break at the end. */
export const toJsonBytes = (value: object): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(value, null, 1)}\n`)
