// What a guide is made of: the facts that its snippets are written with, and one snippet for each tool.
import { html } from 'hono/html'
import { versionFolder } from '#core/contract/artifacts.ts'
import type { DatasetRecord, Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import type { Markup } from '../layout.ts'

export type GuideFacts = {
  /** Address of the history service as its users see it, without a slash at the end. */
  readonly base: string
  /** The same of the signals service; null if the operator does not state it. */
  readonly signals: string | null
  /** Of the version that is served. */
  readonly dataset: DatasetRecord
  readonly strategy: StrategyData
}

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

/** A snippet for each tool, one of which is open; all of them print `prints`, if it is given. */
export function snippets(group: string, codes: Readonly<Partial<Record<Tool, string>>>, prints?: string) {
  const tools = Object.keys(TOOLS).filter((tool): tool is Tool => tool in codes)
  return html`<div class="snippets">${tools.map(
    (tool, i) => html`<details name="${group}" ${i === 0 ? 'open' : ''}><summary>${TOOLS[tool]}</summary>
<pre tabindex="0" data-tool="${tool}" data-group="${group}"><code>${codes[tool]}</code></pre></details>
`,
  )}</div>${prints === undefined ? '' : html`<pre tabindex="0" class="prints" data-prints="${group}"><samp>${prints}</samp></pre>`}`
}

/** A sentence in which backticks enclose code. */
export const prose = (text: string): Markup =>
  html`${text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))}`

/** Where the addresses of the version are that never change. */
export const pinnedFolder = ({ dataset }: Pick<GuideFacts, 'dataset'>): string =>
  `/${versionFolder(dataset.version)}`

/** The strategy that examples are about: the first that has what they show. Undefined in a book without strategies. */
export const exampleStrategy = ({ strategies }: Snapshot): StrategyData | undefined =>
  strategies.find(({ figures }) => typeof figures.values.sharpe_daily_annualized === 'number') ??
  strategies[0]

/** A table as Power Query reads it: the types of its columns are stated in English, whatever the language of Excel is. */
export const powerQuery = (address: string, column: string): string => `let
  Source = Csv.Document(Web.Contents("${address}"), [Delimiter = ",", Encoding = 65001]),
  Rows = Table.PromoteHeaders(Source)
in
  Table.TransformColumnTypes(Rows, {{"t", type date}, {"${column}", type number}}, "en-US")`

/** A table as Google Sheets reads it, with decimal points whatever the language of the sheet is. */
export const importData = (address: string): string => `=IMPORTDATA("${address}", ",", "en_US")`
