// The script of the explorer: what is chosen goes into the address, and the address into the sections.
import { parseIsoDate, toIsoDate } from '#core/calendar.ts'
import { toText } from '#core/contract/decimal.ts'
import type { Series } from '#core/figures/series.ts'
import { chartCsv } from '../chart-data.ts'
import { CHOICE, type Choice, MOST_CHOSEN, printChoice, readChoice } from '../explore/choice.ts'
import { type ExploreFacts, type ExploreModel, exploreModel } from '../explore/model.ts'
import { SECTIONS } from '../explore/sections.ts'
import { percent } from '../format.ts'
import { followCharts, prepareCharts } from './chart-reader.ts'
import { createView, download, one, pageFacts, replaceQuery, say, sentenceOf, startPage } from './dom.ts'
import { loadReturns } from './load-returns.ts'
import { startTables } from './sortable.ts'

const facts = pageFacts<ExploreFacts>()
const known = new Set(facts.strategies.map(({ id }) => id))
const form = one<HTMLFormElement>('#choice')
const control = <E extends Element>(name: string): E => one<E>(`#choice [name=${name}]`)
const risk = control<HTMLSelectElement>('risk_pct')
const days = control<HTMLSelectElement>('days')
const csv = control<HTMLButtonElement>('csv')
const [fromInput, toInput] = [control<HTMLInputElement>('from'), control<HTMLInputElement>('to')]

const returns = new Map<string, Series>()
const view = createView(SECTIONS, place => {
  prepareCharts(place)
  showWeights()
})
let { choice, problems } = readChoice(new URLSearchParams(location.search), known)
let shown: ExploreModel | null = null

const chosen = (): readonly string[] => choice.with ?? []

/** Draws the choice as soon as its returns are loaded. A choice that was changed meanwhile is not drawn. */
async function show(): Promise<void> {
  const wanted = choice
  view.expect(true)
  showControls()
  const missing = chosen().filter(id => !returns.has(id))
  try {
    await Promise.all(
      missing.map(async id => {
        const columns = await loadReturns(`strategies/${id}/returns.daily.csv`, 'daily')
        returns.set(id, columns.get('ret')!)
      }),
    )
    if (wanted !== choice) return
    shown = exploreModel(facts, returns, choice)
    view.show(shown)
    csv.disabled = shown.portfolio === null
    say('#problem', problems.join(' '))
  } catch (error) {
    view.expect(false)
    say('#problem', sentenceOf(error))
  }
}

/** The controls follow the address: a level that is no round one becomes one of the list. */
function showControls(): void {
  const level = choice.risk_pct === null ? '' : toText(choice.risk_pct)
  if (![...risk.options].some(({ value }) => value === level)) {
    risk.add(new Option(percent(100 * Number(level), 4), level))
  }
  risk.value = level
  days.value = choice.days
  fromInput.value = choice.from === null ? '' : toIsoDate(choice.from)
  toInput.value = choice.to === null ? '' : toIsoDate(choice.to)
  for (const box of document.querySelectorAll<HTMLInputElement>('input[name=with]')) {
    box.checked = chosen().includes(box.value)
  }
  showWeights()
}

const weightInputs = () => [...document.querySelectorAll<HTMLInputElement>('input[name=weight]')]

function showWeights(): void {
  weightInputs().forEach((input, i) => {
    if (input !== document.activeElement) input.value = toText(choice.weights?.[i] ?? 1)
  })
}

/** Everything that a reader does ends here. What the rules of the address refuse is not used, with a sentence. */
function change(changes: Partial<Choice>): void {
  const query = printChoice({ ...choice, ...changes })
  ;({ choice, problems } = readChoice(new URLSearchParams(query), known))
  replaceQuery(Object.keys(CHOICE), printChoice(choice))
  void show()
}

form.addEventListener('change', () =>
  change({
    risk_pct: risk.value === '' ? null : Number(risk.value),
    from: parseIsoDate(fromInput.value),
    to: parseIsoDate(toInput.value),
    days: days.value === 'own' ? 'own' : 'common',
  }),
)
form.addEventListener('submit', event => event.preventDefault())

/** A strategy that comes or goes keeps the weights of the others. */
function toggle(id: string): void {
  const weighted = chosen().map((each, i) => ({ id: each, weight: choice.weights?.[i] ?? 1 }))
  const rest = weighted.filter(each => each.id !== id)
  const next = rest.length < weighted.length ? rest : [...weighted, { id, weight: 1 }]
  change({
    with: next.length === 0 ? null : next.map(each => each.id),
    weights: choice.weights === null || next.length === 0 ? null : next.map(({ weight }) => weight),
  })
  if (next.length > MOST_CHOSEN)
    say('#problem', `At most ${MOST_CHOSEN} strategies can be chosen. Remove one first.`)
}

one('#strategies').addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement) toggle(target.value)
})
one('[data-section=weights]').addEventListener('change', () =>
  change({ weights: weightInputs().map(({ valueAsNumber }) => valueAsNumber || 0) }),
)
one('[data-section=weights]').addEventListener('click', ({ target }) => {
  const id = target instanceof HTMLElement ? target.dataset.remove : undefined
  if (id === undefined) return
  toggle(id)
  risk.focus() // the button is gone
})
control('whole').addEventListener('click', () => change({ from: null, to: null }))
control('equal').addEventListener('click', () => change({ weights: null }))
csv.addEventListener('click', () => {
  if (shown === null || shown.portfolio === null) return
  const members = [shown.portfolio, ...shown.members]
  const lines = members.map(({ id, kind, daily }) => ({ name: id, kind, ...daily }))
  const text = chartCsv({ lines, days: shown.charts.equity.days })
  download(`portfolio-${facts.version.slice(0, 10)}.csv`, text)
})

startPage()
startTables()
followCharts(
  id => Object.values(shown?.charts ?? {}).find(chart => chart.id === id),
  (from, to) => change({ from, to }),
)
void show()
