// A form for another equity and cadence, and what the open simulation answers to it.
import { html } from 'hono/html'
import type { ProgramSimulation, SimulationInput } from '#core/contract/payloads/program.ts'
import { decimal, hundredths } from '../format.ts'
import type { Markup } from '../layout.ts'
import { comparison, digits } from './comparison.ts'

export type Simulator = {
  /** Least and most of each input; the service brings others to these bounds. */
  readonly bounds: { readonly [Field in keyof SimulationInput]: readonly [least: number, most: number] }
  /** Null until a reader sends the form. */
  readonly answer: { readonly simulation: ProgramSimulation; readonly isClamped: boolean } | null
}

const FIRST_INPUT: SimulationInput = { equity_usd: 10_000, contribution_cadence_bars: 7 }

/** It needs no script: the form leads to the page with the answer in it. */
export function simulator({ bounds, answer }: Simulator): Markup {
  const input = answer?.simulation.input ?? FIRST_INPUT
  const field = (name: keyof SimulationInput, label: string, step: 'any' | 1) =>
    html`<label>${label} <input type="number" name="${name}" value="${input[name]}" min="${bounds[name][0]}" max="${bounds[name][1]}" step="${step}" required></label>`
  return html`<section><h2 id="simulation">With an equity and a cadence of your own</h2>
<p>The same rules over what has happened of the window. The equity is the sum of all contributions of the whole window.</p>
<form class="risk" action="/program#simulation">
${field('equity_usd', 'Equity, US$', 'any')}
${field('contribution_cadence_bars', 'Bars between contributions', 1)}
<button>Simulate</button>
</form>
${answer === null ? '' : answered(answer)}</section>`
}

function answered({ simulation, isClamped }: NonNullable<Simulator['answer']>): Markup {
  const { input, total_usd_deployed, total_btc_accumulated, avg_cost_basis, benchmarks } = simulation
  return html`${isClamped ? html`<p class="warning" role="note">The input was brought to the bounds: ${hundredths(input.equity_usd)} US$, every ${input.contribution_cadence_bars} bars.</p>` : ''}
<dl class="tiles">
<div><dt>Spent so far, US$</dt><dd>${digits(total_usd_deployed, hundredths)}</dd></div>
<div><dt>Bought, BTC</dt><dd>${digits(total_btc_accumulated, value => decimal(value, 6))}</dd></div>
<div><dt>Average cost, US$</dt><dd>${digits(avg_cost_basis, hundredths)}</dd></div>
</dl>
${comparison('simulation', avg_cost_basis, benchmarks)}
<p class="note">dca has the cadence of the input.</p>`
}
