// The headers that an endpoint has of its own: a token for its gateway, or a tenant. Their values are secrets.

export type OwnHeaders = Readonly<Record<string, string>>

export const MOST_HEADERS = 10

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i

/** Printable ASCII without a blank at either end: what every server reads as it was set. */
const VALUE = /^[!-~](?:[ -~]{0,1022}[!-~])?$/

/** They are about one connection, or say where and how long a request is. */
const OF_THE_CONNECTION =
  /^(?:connection|expect|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|via)$/

/** What a delivery has, and names that later releases may use. */
const OURS =
  /^(?:accept-encoding|content-.*|highwater.*|user-agent|webhook-.*|x-attempt.*|x-highwater.*|x-prev.*|x-sent.*|x-signal.*|x-signature.*)$/

/** Why an endpoint may not have these headers, in one sentence without any value; null if it may. */
export function refusalOfHeaders(headers: OwnHeaders): string | null {
  const all = Object.entries(headers)
  if (all.length > MOST_HEADERS)
    return `${all.length} headers, and ${MOST_HEADERS} are the most: leave some of them out`
  const seen = new Set<string>()
  for (const [given, value] of all) {
    const name = given.toLowerCase()
    // A name of another form may be a value that was put in the wrong place.
    if (!NAME.test(given))
      return 'the name of a header is 1 to 64 letters, digits, - and _, beginning with a letter or a digit'
    if (OF_THE_CONNECTION.test(name)) return `the header '${name}' is that of a connection: leave it out`
    if (OURS.test(name)) return `the header '${name}' is one of the service: choose another name`
    if (seen.has(name)) return `the header '${name}' is there twice, in other capitals: leave one out`
    if (!VALUE.test(value))
      return `the value of the header '${name}' is not 1 to 1024 printable ASCII characters without a blank at either end: encode it`
    seen.add(name)
  }
  return null
}

/** The headers of a delivery: those of the endpoint, and ours, which win whatever was stored. */
export const withOwnHeaders = (own: OwnHeaders, ours: OwnHeaders): OwnHeaders => ({
  ...Object.fromEntries(Object.entries(own).map(([name, value]) => [name.toLowerCase(), value])),
  ...ours,
})

/** What a receiver may repeat in its answer, and nobody is to read there: values, and the words in them. */
export const secretsOfHeaders = (own: OwnHeaders): readonly string[] =>
  Object.values(own).flatMap(value => [value, ...value.split(' ')])
