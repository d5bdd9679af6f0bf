/** 32 bytes as a byte sequence of RFC 9651, without parameters: RFC 9842 defines none. */
const DIGEST = /^ *:([A-Za-z0-9+/]{43}=): *$/

/** The digest (hex) in an `Available-Dictionary` header; null where there is none, or something else than one digest. */
export function parseAvailableDictionary(header: string | null | undefined): string | null {
  const [, base64] = DIGEST.exec(header ?? '') ?? []
  return base64 === undefined ? null : Buffer.from(base64, 'base64').toString('hex')
}
