/** Whether an `If-None-Match` header names `etag`: weak comparison over a list, or `*` (RFC 9110, section 13.1.2). */
export function matchesEtag(header: string | null | undefined, etag: string): boolean {
  if (header === null || header === undefined) return false
  if (header === etag) return true // as nearly every client sends it
  if (header.trim() === '*') return true
  return (header.match(/(?:W\/)?"[^"]*"/g) ?? []).some(candidate => opaque(candidate) === opaque(etag))
}

const opaque = (etag: string): string => (etag.startsWith('W/') ? etag.slice(2) : etag)
