// The definitions of figures on pages: those of the API's document, once a page.
import { html } from 'hono/html'
import { z } from 'zod'
import { riskData } from '#core/contract/payloads/risk.ts'
import { statsData } from '#core/contract/payloads/stats.ts'
import { rollingRows } from '#core/dataset/resources/rolling.ts'
import { summaryData } from '#core/dataset/resources/summary.ts'
import type { Markup } from './layout.ts'

const about = z.looseObject({
  description: z.string().optional(),
  'x-formula': z.string().optional(),
  'x-convention': z.string().optional(),
})

const aboutOf = (field: z.ZodType) => about.parse(field.meta() ?? {})

const ANSWERS = { stats: statsData, summary: summaryData, rolling: rollingRows, risk: riskData } as const
type Answer = keyof typeof ANSWERS

const schemas = new Map<Answer, z.ZodType>()

/** What stands at a path such as `fund_dd/benchmark/beta`, and the nearest part around it that explains its symbols. */
type Found = { readonly field: z.ZodType; readonly group: string; readonly convention: string | undefined }

/** Finds a field of an answer, of a row if the answer is a list. Throws if there is none. */
function findField(answer: Answer, path: string): Found {
  const schema = schemas.get(answer) ?? ANSWERS[answer]()
  schemas.set(answer, schema)
  const names = path.split('/')
  let found: Found = { field: schema, group: answer, convention: aboutOf(schema)['x-convention'] }
  names.forEach((name, i) => {
    const parent = withoutNull(found.field)
    const row = parent instanceof z.ZodArray ? parent.element : parent
    const field: unknown = row instanceof z.ZodObject ? row.shape[name] : undefined
    if (!(field instanceof z.ZodType)) {
      throw new Error(`/${answer} has no field '${path}' that a page could define`)
    }
    const convention = aboutOf(field)['x-convention']
    const group = [answer, ...names.slice(0, i + 1)].join('-')
    found = convention === undefined ? { ...found, field } : { field, group, convention }
  })
  return found
}

const withoutNull = (field: unknown): unknown => (field instanceof z.ZodNullable ? field.unwrap() : field)

/** A figure with a definition: what a `term` of the page names, its name, and its field in the answer. */
export type Defined = readonly [id: string, name: string, path: string, answer?: Answer]

/** The definitions that terms of the page open, and what the symbols of their formulas mean, once for each group. */
export function definitions(figures: readonly Defined[]): Markup {
  const groups = new Map<string, string>()
  const texts = figures.map(([id, name, path, answer = 'stats']) => {
    const { field, group, convention } = findField(answer, path)
    const value = withoutNull(field)
    const { description, 'x-formula': formula } = {
      ...(value instanceof z.ZodType ? aboutOf(value) : {}),
      ...aboutOf(field),
    }
    const isExplained = convention !== undefined && (formula !== undefined || field instanceof z.ZodObject)
    if (isExplained) groups.set(group, convention)
    return definition(
      id,
      name,
      html`${description}${formula === undefined ? '' : html` <code>${formula}</code>`}${isExplained ? html` <button type="button" class="term" popovertarget="symbols-${group}">Symbols</button>` : ''} API: <code>${answer}/${path}</code>`,
    )
  })
  return html`${texts}${[...groups].map(([group, text]) => popover(`symbols-${group}`, 'Symbols', text))}`
}

/** The definition of a figure that only pages have. */
export const definition = (id: string, name: string, text: Markup | string): Markup =>
  popover(`about-${id}`, name, text)

const popover = (id: string, title: string, text: Markup | string): Markup =>
  html`<div id="${id}" popover class="about"><strong>${title}</strong> ${text}</div>
`
