// The snippets of guides, as a reader copies them from the page.
import type { Tool } from '#pages/guides/guide.ts'

export type Snippet = { readonly tool: Tool; readonly group: string; readonly code: string }

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

const toText = (markup: string): string =>
  markup.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, each => ENTITIES[each]!)

export const snippetsOf = (page: string): readonly Snippet[] =>
  [...page.matchAll(/data-tool="(\w+)" data-group="(\w+)"><code>(.*?)<\/code>/gs)].map(
    ([, tool = '', group = '', code = '']) => ({ tool: tool as Tool, group, code: toText(code) }),
  )

/** What the snippets of a group print, as the page shows it; null if it shows nothing. */
export function shownOf(page: string, group: string): string | null {
  const [, shown] = new RegExp(`data-prints="${group}"><samp>(.*?)</samp>`, 's').exec(page) ?? []
  return shown === undefined ? null : toText(shown)
}
