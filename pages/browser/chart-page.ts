// What pages with charts of the whole history do: the address holds what they show, and the numbers can be saved.
import { canonicalUrl, PARAMETERS, readQuery, type ValuesOf } from '#core/contract/parameters.ts'
import { DAYS_PER_YEAR } from '#core/figures/series.ts'
import { chartCsv, chartTable } from '../chart-data.ts'
import type { LineChart } from '../charts/line-chart.ts'
import { escapeText } from '../charts/svg.ts'
import { followCharts, prepareCharts } from './chart-reader.ts'
import { createView, download, one, replaceQuery, say, sentenceOf } from './dom.ts'

const { risk_pct, from, to } = PARAMETERS
export const ADDRESS = { risk_pct, from, to }

/** What the page shows: a level and days, null for base risk and all days. */
export type Address = ValuesOf<typeof ADDRESS>

type Days = LineChart['days']
type Drawn<Model, Result> = Readonly<Record<string, (model: Model, days: Days) => Result>>

export type ChartPage<Series, Model> = {
  readonly parameters: Partial<typeof ADDRESS>
  /** Called when the series are first needed, and again if that failed. */
  readonly load: () => Promise<Series>
  readonly modelOf: (series: Series, address: Address) => Model
  readonly allDays: (model: Model) => Days
  /** Whether the account of the page has days from this one on, where an account can be ruined. */
  readonly isAliveOn?: (model: Model, day: number) => boolean
  /** The texts of the sections, by their names; and the charts of those that have any. */
  readonly sections: Drawn<Model, string>
  readonly charts: Drawn<Model, readonly LineChart[]>
  /** Files of numbers begin with it. */
  readonly name: string
  readonly onAddress: (address: Address) => void
}

type Shown<Model> = { readonly model: Model; readonly days: Days; readonly hasNumbers: boolean }

/** Makes the page follow its address and its controls. Returns what changes the address; `isKept` is false while a slider moves. */
export function startCharts<Series, Model>(page: ChartPage<Series, Model>) {
  const { values, problems } = readQuery(page.parameters, new URLSearchParams(location.search))
  let refused = problems.map(
    ({ param, value, reason }) => `${param}=${value} in the address is not used: it ${reason}.`,
  )
  let address: Address = { risk_pct: null, from: null, to: null, ...values }
  let shown: Shown<Model> | null = null
  let hasNumbers = false
  const load = once(page.load)
  const view = createView(sectionsOf(page), prepareCharts)
  /** Shows the address, as soon as the series are loaded. An address that was left meanwhile is not drawn. */
  const show = async (): Promise<void> => {
    const wanted = address
    view.expect(true)
    page.onAddress(wanted)
    try {
      const model = page.modelOf(await load(), wanted)
      if (wanted !== address) return
      const all = page.allDays(model)
      const days = daysIn(all, wanted)
      const isAlive = days === null || (page.isAliveOn?.(model, days.from) ?? true)
      const isDrawn = days !== null && isAlive
      shown = { model, days: isDrawn ? days : all, hasNumbers }
      view.show(shown)
      showChoice(isDrawn ? wanted : { ...wanted, from: null, to: null }, all)
      say('#problem', [...refused, ...(isDrawn ? [] : [isAlive ? NO_RANGE : AFTER_RUIN])].join(' '))
    } catch (error) {
      view.expect(false)
      say('#problem', sentenceOf(error))
    }
  }
  const change = (changes: Partial<Address>, isKept = true): void => {
    address = { ...address, ...changes }
    refused = []
    if (isKept) replaceQuery(Object.keys(page.parameters), canonicalUrl('', page.parameters, address))
    void show()
  }
  const showRange = async (button: HTMLElement): Promise<void> => {
    try {
      change({ from: startOf(button, page.allDays(page.modelOf(await load(), address))), to: null })
    } catch (error) {
      say('#problem', sentenceOf(error))
    }
  }

  const chartOf = (id: string) =>
    shown === null ? undefined : chartsOf(page, shown).find(chart => chart.id === id)

  prepareCharts(document.body)
  followCharts(chartOf, (from, to) => change({ from, to }))
  for (const button of rangeButtons()) button.addEventListener('click', () => showRange(button))
  onCsv(page.name, chartOf)
  one('#numbers').addEventListener('click', () => {
    hasNumbers = !hasNumbers
    void show()
  })
  onLook(() => {
    if (shown === null) void show()
  })
  if (Object.values(address).some(value => value !== null)) void show()
  else {
    page.onAddress(address)
    say('#problem', refused.join(' '))
  }
  return change
}

/** Loads once; after a failure, again when it is needed next. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null
      throw error
    })
    return loading
  }
}

const sectionsOf = <Series, Model>({ sections, charts }: ChartPage<Series, Model>) =>
  Object.fromEntries(
    Object.entries(sections).map(([name, section]) => [
      name,
      ({ model, days, hasNumbers }: Shown<Model>) => {
        const drawn = hasNumbers ? (charts[name]?.(model, days) ?? []) : []
        return section(model, days) + drawn.map(numbersOf).join('')
      },
    ]),
  )

const chartsOf = <Series, Model>({ charts }: ChartPage<Series, Model>, { model, days }: Shown<Model>) =>
  Object.values(charts).flatMap(drawn => drawn(model, days))

const rangeButtons = () => document.querySelectorAll<HTMLElement>('[data-years], [data-from]')

/** The first day of the range of a button: that many years up to the last day, from a day on, or null for all. */
function startOf({ dataset }: HTMLElement, { to }: Days): number | null {
  if (dataset.from !== undefined) return Number(dataset.from)
  return dataset.years === 'all' ? null : to - Number(dataset.years) * DAYS_PER_YEAR + 1
}

function showChoice({ from, to }: Address, all: Days): void {
  for (const button of rangeButtons())
    button.ariaPressed = String(to === null && startOf(button, all) === from)
}

function onCsv(name: string, chartOf: (id: string) => LineChart | undefined): void {
  addEventListener('click', ({ target }) => {
    const id = target instanceof HTMLElement ? target.dataset.csv : undefined
    const chart = id === undefined ? undefined : chartOf(id)
    if (chart !== undefined) download(`${name}-${id}.csv`, chartCsv(chart))
  })
}

/** The series are loaded when a reader first points at a chart or selects it, or comes near one that the build left out. */
function onLook(look: () => void): void {
  const observer = new IntersectionObserver(
    entries => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      observer.disconnect()
      look()
    },
    { rootMargin: '300px' },
  )
  for (const place of document.querySelectorAll('[data-section]:has(> [data-without-script])'))
    observer.observe(place)
  for (const type of ['pointerover', 'focusin'])
    addEventListener(type, ({ target }) => {
      if (target instanceof Element && target.closest('svg.chart') !== null) look()
    })
}

const NO_RANGE = 'The range in the address has no two days of this history: all days are shown.'
const AFTER_RUIN = 'The range in the address begins after the ruin at this level: all days are shown.'

/** The days of a range that the charts have; null if they are fewer than two. A range that is not limited has all. */
function daysIn(all: Days, { from, to }: Address): Days | null {
  if (from === null && to === null) return all
  const days = { from: Math.max(from ?? all.from, all.from), to: Math.min(to ?? all.to, all.to) }
  return days.from < days.to ? days : null
}

const numbersOf = (chart: LineChart): string =>
  `<button type="button" data-csv="${chart.id}">CSV: ${escapeText(chart.title)}</button>${chartTable(chart)}`
