// The pages below `/docs/guides/`, rendered from Markdown: the guides of this folder, and files of `docs/` that a reader of a record needs.
import { readFileSync } from 'node:fs'
import { html, raw } from 'hono/html'
import { Marked, Renderer, type Tokens } from 'marked'
import type { Markup } from '../layout.ts'
import { type GuideFacts, guideValues } from './guide.ts'

export type Guide = {
  /** Its place below `/docs/guides/`. */
  readonly name: string
  readonly title: string
  /** One sentence for the index. */
  readonly about: string
  readonly body: (facts: GuideFacts) => Markup
}

/** The tools of snippets. Tests run every snippet by the name of its tool. */
const TOOLS = {
  sh: 'Shell',
  pandas: 'Python: pandas',
  client: 'Python: our client',
  ts: 'TypeScript: our client',
  r: 'R',
  sheets: 'Google Sheets',
  excel: 'Excel: Power Query',
  module: 'strategies/oak.ts',
} as const
export type Tool = keyof typeof TOOLS

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

  /** A block of `tool group` is a snippet, and one of `prints group` what all snippets of the group print. */
  override code({ text, lang = '' }: Tokens.Code): string {
    const [tool, group] = lang.split(' ')
    if (group === undefined) return String(html`<pre tabindex="0"><code>${text}</code></pre>\n`)
    if (tool === 'prints')
      return String(
        html`<pre tabindex="0" class="prints" data-prints="${group}"><samp>${text}</samp></pre>\n`,
      )
    return String(html`<details name="${group}"><summary>${TOOLS[tool as Tool]}</summary>
<pre tabindex="0" data-tool="${tool}" data-group="${group}"><code>${text}</code></pre></details>\n`)
  }

  /** The files have comments alone. */
  override html(): string {
    return ''
  }
}

const markdown = new Marked().setOptions({ renderer: new PageRenderer() })

/** A Markdown file, whose first heading is its title; `path` is seen from this folder. */
function readDocument(path: string) {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8')
  const [, title = ''] = /^# (.+)$/m.exec(text) ?? []
  return { title, toMarkup: () => markdown.parse(text, { async: false }) }
}

const guide = (name: string, about: string): Guide => {
  const { title, toMarkup } = readDocument(`./${name}.md`)
  return { name, title, about, body: facts => guideBody(toMarkup(), guideValues(facts)) }
}

/** Snippets that follow one another are alternatives, of which one is open. `{{name}}` stands for a value. */
function guideBody(markup: string, values: Readonly<Record<string, unknown>>): Markup {
  const grouped = markup
    .replace('<p>', '<p class="lead">')
    .replaceAll(
      /(?:<details .*?<\/details>\n)+/gs,
      each => `<div class="snippets">${each.replace('>', ' open>')}</div>`,
    )
  const valueNamed = (name: string) => values[name] ?? unknownValue(name)
  return html`${grouped.split(/\{\{(\w+)\}\}/).map((part, i) => (i % 2 === 0 ? raw(part) : valueNamed(part)))}`
}

function unknownValue(name: string): never {
  throw new Error(`a guide names {{${name}}}, which is no value of guide.ts`)
}

const document = (name: string, about: string): Guide => {
  const { title, toMarkup } = readDocument(`../../docs/${name}.md`)
  const note = html`<p class="note">This page is <code>docs/${name}.md</code> of Highwater. Other files that it names are in a checkout.</p>`
  return { name, title, about, body: () => html`${raw(toMarkup())}\n${note}` }
}

/** In the order in which they are read. */
export const GUIDES: readonly Guide[] = [
  guide('first-chart', 'Read the equity curve of a strategy, and draw it.'),
  guide('pinning', 'Read the same bytes for ever, and let others read them.'),
  guide('rescaling', 'Returns, curves and statistics at the risk that you would take.'),
  guide('recomputing', 'Compute a published statistic from the published returns, and compare.'),
  guide('webhooks', 'Receive signed live signals, and miss none.'),
  guide('publishing', 'From an empty folder to a service that answers from your strategies.'),
]

export const DOCUMENTS: readonly Guide[] = [
  document('trust', 'Ways to make a record look better than it is, and where each of them shows.'),
  document('verifying', 'Check the log, the signatures and every file from outside.'),
  document('figures', 'Every statistic: its definition, its formula, and when it is null.'),
  document('glossary', 'The terms of the interface, each with one meaning.'),
  document('limits', 'Sizes and times of requests, and what open data reveal.'),
]

/** All pages below `/docs/guides/`. */
export const DOCS: readonly Guide[] = [...GUIDES, ...DOCUMENTS]
