import { LRUCache } from 'lru-cache'

/**
 * A parser that remembers the last text of each owner: the same text again is the same value. For records that are read
 * again and again and seldom change. What it gives must not be changed by anybody.
 */
export function rememberText<T>(
  mostOwners: number,
  parse: (text: string, owner: string) => T,
): (text: string, owner: string) => T {
  const known = new LRUCache<string, { readonly text: string; readonly value: T }>({ max: mostOwners })
  return (text, owner) => {
    const last = known.get(owner)
    if (last?.text === text) return last.value
    const value = parse(text, owner)
    known.set(owner, { text, value })
    return value
  }
}
