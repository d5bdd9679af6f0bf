import { LRUCache } from 'lru-cache'

// A record of Redis as one text: a script gives it so, and it can be told at a glance whether it is the one of before.

/** What is between the values: none of ours holds it. */
const BETWEEN = '\0'

/** Lua: `text(list)` makes one text of a list; '' of an empty one. */
export const TEXT_FUNCTION = `
local function text(list) return table.concat(list, '\\0') end
`

/** The list that a text was made of. */
export const toList = (text: string): string[] => (text === '' ? [] : text.split(BETWEEN))

/** The fields that a text was made of, where the list was of names and values in turns. */
export function toRecord(text: string): Record<string, string> {
  const flat = toList(text)
  const record: Record<string, string> = {}
  for (let i = 0; i < flat.length; i += 2) record[flat[i]!] = flat[i + 1]!
  return record
}

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
