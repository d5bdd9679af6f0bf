// Trees of published files: what a store holds, and how two trees differ, in words.
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { bytesOf } from '#test/support/stores/stored-bytes.ts'

/** Texts by key. */
export type Tree = ReadonlyMap<string, string>

/** Every object of a store as text, but for those that `isTaken` leaves out. */
export const treeOf = (store: ObjectStore, isTaken: (key: string) => boolean = () => true): Promise<Tree> =>
  mapObjects(store, isTaken, bytes => new TextDecoder('utf-8', { fatal: true }).decode(bytes))

/** The digest of every object of a store, but for what a folder has for nginx. */
export const digestsOf = (store: ObjectStore): Promise<Tree> =>
  mapObjects(store, key => !key.startsWith('nginx/'), sha256)

async function mapObjects(
  store: ObjectStore,
  isTaken: (key: string) => boolean,
  toText: (bytes: Uint8Array) => string,
): Promise<Tree> {
  const tree = new Map<string, string>()
  for (const key of await store.list('')) {
    if (isTaken(key)) tree.set(key, toText(await bytesOf(store, key)))
  }
  return tree
}

/** The text of an object that has to be there. */
export const textAt = async (store: ObjectStore, key: string): Promise<string> =>
  new TextDecoder().decode(await bytesOf(store, key))

/** What it says, if it is JSON. */
export const jsonAt = async (store: ObjectStore, key: string): Promise<unknown> =>
  JSON.parse(await textAt(store, key))

/** One sentence a file: missing, unexpected, or changed with the first line that differs. Empty for equal trees. */
export function describeDifferences(expected: Tree, actual: Tree): string[] {
  const missing = [...expected.keys()].filter(key => !actual.has(key)).map(key => `missing: ${key}`)
  const unexpected = [...actual.keys()].filter(key => !expected.has(key)).map(key => `unexpected: ${key}`)
  const changed = [...expected].flatMap(([key, text]) => {
    const now = actual.get(key)
    return now === undefined || now === text ? [] : [`changed: ${key}${firstChange(text, now)}`]
  })
  return [...missing, ...unexpected, ...changed]
}

const SHOWN_CHARS = 80

/** ` in line 3 near ["net_return_pct":1]: ["net_return_pct":2]`, from a little before the first character that differs. */
function firstChange(before: string, after: string): string {
  let at = 0
  while (at < before.length && before[at] === after[at]) at++
  const line = before.slice(0, at).split('\n').length
  const from = Math.max(0, at - SHOWN_CHARS / 2)
  const shown = (text: string) => JSON.stringify(text.slice(from, from + SHOWN_CHARS))
  return ` in line ${line}: expected ${shown(before)}, got ${shown(after)}`
}
