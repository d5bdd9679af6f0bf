// The average cost beside those of the benchmarks, as a table.
import { html } from 'hono/html'
import { z } from 'zod'
import { programPreview } from '#core/contract/payloads/program.ts'
import { BENCHMARK_NAMES, type BenchmarkName } from '#core/program/benchmarks.ts'
import { decimal, hundredths, NONE } from '../format.ts'
import type { Markup } from '../layout.ts'

type Compared = Readonly<
  Record<BenchmarkName, { readonly value: number | null; readonly pct_cheaper: number | null }>
>

/** A published number with all of its digits for programs, and a rounded one for people. */
export const digits = (value: number | null, print: (value: number) => string): Markup =>
  html`<data value="${value ?? ''}">${value === null ? NONE : print(value)}</data>`

/** What a field means, by the document of the API: its first clause, without the notation of the wire. */
export function definitionOf(field: z.ZodType): string {
  const inner = field instanceof z.ZodNullable ? (field.unwrap() as z.ZodType) : field // of a schema of zod
  const [, clause = ''] =
    /^(.*?)(?:, \d+ decimals)?[.;](?: |$)/.exec(field.description ?? inner.description ?? '') ?? []
  return `${clause.replaceAll('`', '')}.`
}

/** What the same dollars cost and bought, by the program and by each benchmark. `labelledBy` is the id of a heading. */
export const comparison = (labelledBy: string, average: number | null, against: Compared): Markup => html`
<div class="scroll" tabindex="0" role="region" aria-labelledby="${labelledBy}"><table class="compared">
<thead><tr><th scope="col">By</th><th scope="col">Cost of 1 BTC, US$</th><th scope="col">BTC for 1000 US$</th><th scope="col">Cheaper, %</th></tr></thead>
<tbody><tr class="total"><th scope="row">The program</th>${cost(average)}<td></td></tr>
${BENCHMARK_NAMES.map(name => html`<tr><th scope="row">${name} <span class="note">${definitionOf(programPreview.shape.benchmarks.shape[name])}</span></th>${cost(against[name].value)}<td>${digits(against[name].pct_cheaper, hundredths)}</td></tr>`)}</tbody></table></div>
<p class="note">The program, dca and lump_sum pay the costs of their purchases; vwap and hodl pay none. Cheaper: (1 − cost of the program ÷ cost by the benchmark) × 100.</p>`

/** A cost, and what it makes of a thousand dollars. */
const cost = (value: number | null): Markup =>
  html`<td>${digits(value, hundredths)}</td><td>${value === null ? NONE : decimal(1000 / value, 6)}</td>`
