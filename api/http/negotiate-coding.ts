// Which content coding a client gets: RFC 9110, section 12.5.3.

export type Coding = 'zstd' | 'br' | 'gzip' | 'identity'

/** Real clients send a few dozen different headers; a memo of this size serves them all and cannot grow. */
export const MEMO_SIZE = 256

const memo = new Map<string, ReadonlyMap<string, number>>()

/**
 * The best coding of `offered` (in the server's order of preference) that the client accepts; `identity` where it
 * accepts none, because an answer that can be read beats a 406.
 */
export function negotiateCoding<Offered extends Coding>(
  header: string | null | undefined,
  offered: readonly Offered[],
): Offered | 'identity' {
  if (header === null || header === undefined || header === '') return 'identity'
  const weights = weightsOf(header)
  let best: Offered | 'identity' = 'identity'
  let bestWeight = weights.get('identity') ?? 0 // unlisted, identity is the last resort and not a preference
  for (const coding of offered) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0
    if (weight > bestWeight || (weight === bestWeight && weight > 0 && best === 'identity')) {
      best = coding
      bestWeight = weight
    }
  }
  return best
}

function weightsOf(header: string): ReadonlyMap<string, number> {
  const known = memo.get(header)
  if (known !== undefined) return known
  const weights = new Map(header.split(',').map(parseItem))
  if (memo.size >= MEMO_SIZE) memo.clear()
  memo.set(header, weights)
  return weights
}

/** `br;q=0.8` as `['br', 0.8]`; a weight that is none counts as 0. */
function parseItem(item: string): [string, number] {
  const [name = '', ...parameters] = item.split(';').map(part => part.trim().toLowerCase())
  const weight = parameters.find(parameter => parameter.startsWith('q='))
  const value = weight === undefined ? 1 : Number(weight.slice(2))
  return [name, value >= 0 && value <= 1 ? value : 0]
}
