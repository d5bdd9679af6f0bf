import { LRUCache } from 'lru-cache'

// A record of Redis as one string, so that an unchanged record is recognised without parsing.

/** No value contains it. */
const BETWEEN = '\0'

/** Lua: `text(list)` joins a list; '' for an empty one. */
export const TEXT_FUNCTION = `
local function text(list) return table.concat(list, '\\0') end
`

/** The fields of a text that was made of pairs of name and value. */
export const toRecord = (text: string): Record<string, string> =>
  fromPairs(text === '' ? [] : text.split(BETWEEN))

export function fromPairs(flat: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {}
  for (let i = 0; i < flat.length; i += 2) record[flat[i]!] = flat[i + 1]!
  return record
}

/**
 * A parser that caches the last text of each owner: the same text gives the same value, which callers must not
 * modify.
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
