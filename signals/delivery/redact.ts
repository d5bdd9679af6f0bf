// What a receiver answered, fit to be kept and shown: without anything that could be a secret of anybody.

/** In place of what was taken out. */
const REDACTED = '[redacted]'

/** Shorter texts are no secrets, and would be found everywhere. */
const SHORTEST_SECRET = 8

/**
 * What looks like a secret: ours, tokens with their scheme, named ones, tokens with a dot (JWT), and long runs of hex or
 * base64. Every repetition that can be tried from many places is bounded: the text is an adversary's.
 */
const SECRET_LOOKS: readonly RegExp[] = [
  /\b(?:whsec|hw_live|hw_test)_[\w+/=%-]*/g,
  /\b(?:bearer|basic)\s{1,4}[\w.~+/=-]+/gi,
  /(?<=(?:authorization|api[_-]?key|token|secret|passw(?:or)?d|signature|cookie)["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"',;&]+/gi,
  /\bey[\w-]{8,512}\.[\w-]+(?:\.[\w-]*)?/g,
  /[\w+/=-]{40,}/g,
]

/**
 * `text` with every one of `known` and everything that looks like a secret taken out, and without characters that would
 * act on a terminal or a log. Cut to `most` characters, after all that: a cut could hide a secret's half from it.
 */
export function redact(text: string, known: readonly string[], most: number): string {
  const hidden = known
    .filter(secret => secret.length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
  const safe = SECRET_LOOKS.reduce((rest, looks) => rest.replaceAll(looks, REDACTED), hidden)
  return safe
    .replaceAll(/\p{C}+/gu, ' ')
    .slice(0, most)
    .toWellFormed()
}
