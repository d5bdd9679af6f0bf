/** `Deprecation` (RFC 9745, a structured date) and `Sunset` (RFC 8594, an HTTP date), where the operator set them. */
export function deprecationHeaders(
  deprecatedAtMs: number | null,
  sunsetAtMs: number | null,
): Record<string, string> {
  return {
    ...(deprecatedAtMs === null ? {} : { deprecation: `@${Math.floor(deprecatedAtMs / 1000)}` }),
    ...(sunsetAtMs === null ? {} : { sunset: new Date(sunsetAtMs).toUTCString() }),
  }
}
