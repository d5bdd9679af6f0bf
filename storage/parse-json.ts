/** The value in a stored text or its bytes, or undefined if they are not JSON: no schema accepts that. */
export function parseJson(stored: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof stored === 'string' ? stored : new TextDecoder().decode(stored))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
