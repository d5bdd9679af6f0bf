/** A JSON document as it is stored: a value a line, and a line break at the end. */
export const toJsonBytes = (value: object): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(value, null, 1)}\n`)

/** A JSON document that is sent as it is stored: on one line. Throws on a number that is not finite. */
export const toAnswerBytes = (value: object): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(value, refuseNotFinite))

/** By itself JSON.stringify makes a silent null of it. */
function refuseNotFinite(key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  throw new Error(`${key} must be a finite number, not ${value}: what computes it is at fault`)
}
