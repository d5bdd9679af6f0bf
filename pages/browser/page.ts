// The script of a fact sheet: the slider beside what every page with charts has.
import { BOOK_COLUMN } from '#core/dataset/equal-weight-book.ts'
import { riskLevel } from '#core/dataset/resources/risk-level.ts'
import { percent } from '../format.ts'
import { riskSteps } from '../risk-steps.ts'
import { exposureCharts } from '../sheet/exposure.ts'
import type { SheetFacts } from '../sheet/facts.ts'
import { isAliveOn, noteOf, percentOf, sheetModel } from '../sheet/model.ts'
import { equityChart, rollingCharts, SECTIONS, startsChart, underwaterChart } from '../sheet/sections.ts'
import { ADDRESS, type Address, startCharts } from './chart-page.ts'
import { one, pageFacts, say, startPage } from './dom.ts'
import { loadFile, loadReturns, parseTrades } from './load-returns.ts'

const facts = pageFacts<SheetFacts>()
const steps = riskSteps(facts.max_modelled_risk_pct, facts.base_risk_pct)
const slider = one<HTMLInputElement>('#risk-slider')

const levelOf = ({ risk_pct }: Address) => riskLevel(risk_pct, facts.max_modelled_risk_pct)

/** The slider follows the address: a level between two steps is beside the nearest, and is printed exactly. */
function showLevel(address: Address): void {
  const level = levelOf(address)
  const effective = level?.effective ?? facts.base_risk_pct
  const distances = steps.map(step => Math.abs(step - effective))
  slider.value = String(distances.indexOf(Math.min(...distances)))
  const text = `${percent(percentOf(effective), 2)}${level === null ? ' (base)' : ''}`
  slider.ariaValueText = text
  one('#risk-output').textContent = text
  one('#risk .note').textContent = noteOf(facts, level)
}

const levelOfSlider = (): number | null => {
  const level = steps[slider.valueAsNumber]!
  return level === facts.base_risk_pct ? null : level
}

startPage()
one('#copy').addEventListener('click', () => {
  navigator.clipboard.writeText(one('#citation').textContent).then(
    () => say('#problem', ''),
    () => say('#problem', 'The browser does not allow to copy; select the citation and copy it.'),
  )
})
const change = startCharts({
  parameters: ADDRESS,
  async load() {
    const [daily, weekly, benchmark, trades] = await Promise.all([
      loadReturns('returns.daily.csv', 'daily'),
      loadReturns('returns.weekly.csv', 'weekly'),
      loadReturns('../../benchmark.csv', 'daily'),
      loadFile('trades.csv'),
    ])
    return {
      daily: daily.get('ret')!,
      weekly: weekly.get('ret')!,
      benchmark: benchmark.get(facts.instrument) ?? null,
      book: benchmark.get(BOOK_COLUMN) ?? null,
      trades: parseTrades(trades),
    }
  },
  modelOf: (series, address) => sheetModel(facts, series, levelOf(address), address),
  allDays: ({ all }) => all,
  isAliveOn: ({ whole }, day) => isAliveOn(whole, day),
  sections: SECTIONS,
  charts: {
    equity: model => [equityChart(model)],
    underwater: model => [underwaterChart(model)],
    starts: model => [startsChart(model)],
    rolling: rollingCharts,
    exposure: model => exposureCharts(model),
  },
  name: facts.id,
  onAddress: showLevel,
})
slider.addEventListener('input', () => change({ risk_pct: levelOfSlider() }, false))
slider.addEventListener('change', () => change({ risk_pct: levelOfSlider() }))
