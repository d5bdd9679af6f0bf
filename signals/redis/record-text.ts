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
