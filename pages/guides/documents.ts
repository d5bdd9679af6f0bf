// The pages of `docs/` that a reader of a record needs, rendered from their Markdown.
import { readFileSync } from 'node:fs'
import { html, raw } from 'hono/html'
import { Marked, Renderer, type Tokens } from 'marked'
import type { Guide } from './guide.ts'

const document = (name: string, about: string): Guide => {
  const text = readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')
  return {
    name,
    title: /^# (.+)$/m.exec(text)?.[1] ?? name,
    about,
    body: () => html`${raw(markdown.parse(text, { async: false }))}
<p class="note">This page is <code>docs/${name}.md</code> of Highwater. Other files that it names are in a checkout.</p>`,
  }
}

class PageRenderer extends Renderer {
  /** The title of a page has its place already. */
  override heading({ tokens, text, depth }: Tokens.Heading): string {
    if (depth === 1) return ''
    const id = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
  }

  /** A file that is no page of the service is named instead of linked to. */
  override link({ href, tokens }: Tokens.Link): string {
    const text = this.parser.parseInline(tokens)
    const [, name = '', anchor = ''] = /^([\w./-]+)\.md(#.*)?$/.exec(href) ?? []
    if (name === '') return String(html`<a href="${href}">${raw(text)}</a>`)
    if (DOCUMENTS.some(each => each.name === name)) return `<a href="${name}${anchor}">${text}</a>`
    return `${text} (<code>${new URL(`${name}.md`, 'file:///docs/').pathname.slice(1)}</code>)`
  }

  override table(token: Tokens.Table): string {
    return `<div class="scroll" tabindex="0">${super.table(token)}</div>\n`
  }

  override code({ text }: Tokens.Code): string {
    return String(html`<pre tabindex="0"><code>${text}</code></pre>\n`)
  }

  /** The files have comments alone. */
  override html(): string {
    return ''
  }
}

const markdown = new Marked().setOptions({ renderer: new PageRenderer() })

export const DOCUMENTS: readonly Guide[] = [
  document('trust', 'Ways to make a record look better than it is, and where each of them shows.'),
  document('verifying', 'Check the log, the signatures and every file from outside.'),
  document('figures', 'Every statistic: its definition, its formula, and when it is null.'),
  document('glossary', 'The terms of the interface, each with one meaning.'),
  document('limits', 'Sizes and times of requests, and what open data reveal.'),
]
