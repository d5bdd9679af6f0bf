import type { Snapshot } from '#core/dataset/snapshot.ts'
import { INTEGRITY } from '#pages/assets.ts'
import { pageFile, publishedPages } from '#pages/page-routes.ts'

/** The pages of a snapshot by their files, rendered at base risk when they are asked for. */
export const pagesOf = (snapshot: Snapshot): ReadonlyMap<string, () => string> =>
  new Map(
    publishedPages(snapshot.strategies.map(({ id }) => id)).map(({ route, sid }) => [
      pageFile(route, sid),
      () => route.render(snapshot, { sid, risk_pct: null }, INTEGRITY),
    ]),
  )

// A strict reader of the HTML of pages: everything that is opened is closed, in order, with quoted attributes.

export type HtmlElement = {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  /** What stands in a script, or in any other element directly. */
  text: string
}

const VOID = new Set(['meta', 'link', 'input', 'br', 'wbr'])
const TOKEN =
  /<!doctype html>|<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*(\/?)>|([^<]+)/y
const SCRIPT_TEXT = /[\s\S]*?(?=<\/script>)/y
/** A character reference, or nothing that begins one. */
const REFERENCE = /&(?!(?:#\d+|amp|lt|gt|quot);)/

/** All elements of a document, in the order of their start tags. Throws if it is not well-formed. */
export function htmlElements(text: string): HtmlElement[] {
  const all: HtmlElement[] = []
  const open: HtmlElement[] = []
  for (let at = 0; at < text.length; ) {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(text)
    if (found === null) throw new Error(`not HTML: ${text.slice(at, at + 80)}`)
    at = TOKEN.lastIndex
    const [token, slash, name, attributes = '', empty, words] = found
    if (REFERENCE.test(token)) throw new Error(`an ampersand is not escaped: ${token}`)
    if (words !== undefined && open.length > 0) open.at(-1)!.text += words
    if (name === undefined) continue
    if (slash === '/') {
      const closed = open.pop()?.name
      if (closed !== name) throw new Error(`</${name}> closes <${closed}>`)
      continue
    }
    const pairs = [...attributes.matchAll(/([a-zA-Z-]+)(?:="([^"]*)")?/g)]
    const element = {
      name,
      attributes: new Map(pairs.map(([, key, value = '']) => [key!, value])),
      text: '',
    }
    if (element.attributes.size !== pairs.length) throw new Error(`an attribute twice: ${token}`)
    all.push(element)
    if (!VOID.has(name) && empty !== '/') open.push(element)
    if (name !== 'script') continue
    SCRIPT_TEXT.lastIndex = at
    element.text = SCRIPT_TEXT.exec(text)?.[0] ?? ''
    at += element.text.length
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)!.name}> is not closed`)
  return all
}
