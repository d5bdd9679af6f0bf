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

// A strict reader of the markup of pages and charts: everything that is opened is closed, in order, with quoted attributes.

export type Element = {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Element[]
  /** What stands in it directly. */
  text: string
}

const VOID = new Set(['meta', 'link', 'input', 'br', 'wbr'])
const TOKEN =
  /<!doctype html>|<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"<]*")?)*)\s*(\/?)>|([^<]+)/y
const SCRIPT_TEXT = /[\s\S]*?(?=<\/script>)/y
/** An ampersand that begins no character reference. */
const UNESCAPED = /&(?!(?:#\d+|amp|lt|gt|quot);)/

/** The root elements of a text. Throws if it is not well-formed. */
export function parseMarkup(text: string): Element[] {
  const root: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  for (let at = 0; at < text.length; ) {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(text)
    if (found === null) throw new Error(`not markup: ${text.slice(at, at + 80)}`)
    at = TOKEN.lastIndex
    const [token, slash, name, attributes = '', empty, words = ''] = found
    if (UNESCAPED.test(token)) throw new Error(`an ampersand is not escaped: ${token}`)
    open.at(-1)!.text += unescaped(words)
    if (name === undefined) continue
    if (slash === '/') {
      const closed = open.pop()!.name
      if (closed !== name) throw new Error(`</${name}> closes <${closed}>`)
      continue
    }
    const pairs = [...attributes.matchAll(/([a-zA-Z-]+)(?:="([^"]*)")?/g)]
    const values = Object.fromEntries(pairs.map(([, key, value = '']) => [key!, unescaped(value)]))
    if (Object.keys(values).length !== pairs.length) throw new Error(`an attribute twice: ${token}`)
    const element: Element = { name, attributes: values, children: [], text: '' }
    open.at(-1)!.children.push(element)
    if (!VOID.has(name) && empty !== '/') open.push(element)
    if (name !== 'script') continue
    SCRIPT_TEXT.lastIndex = at
    element.text = SCRIPT_TEXT.exec(text)?.[0] ?? ''
    at += element.text.length
  }
  if (open.length > 1) throw new Error(`<${open.at(-1)!.name}> is not closed`)
  return root.children
}

const unescaped = (text: string): string =>
  text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))

/** `element` and everything in it, in the order of the start tags. */
export const all = (element: Element): Element[] => [element, ...element.children.flatMap(all)]

/** All elements of a page. Throws if it is not well-formed. */
export const htmlElements = (text: string): Element[] => parseMarkup(text).flatMap(all)
