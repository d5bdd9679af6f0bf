// Parts of a fact sheet on its trades: how long and how short each month was, and what each trade returned.
import { mean } from 'd3-array'
import { html, raw } from 'hono/html'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'
import { exposureByMonth } from '#core/figures/risk-profile.ts'
import { dotChart } from '../charts/dot-chart.ts'
import { type Line, type LineChart, namedLineChart } from '../charts/line-chart.ts'
import { dayText, percent } from '../format.ts'
import type { SheetModel } from './model.ts'

/** A position that is still open is in no trade. */
function exposureOf({ facts, path, trades }: SheetModel) {
  const { months } = exposureByMonth(path.daily, trades, facts.open_since)
  return Array.isArray(months) ? months : []
}

/** Long and short of each month; none without positions. */
export function exposureCharts(model: SheetModel, months = exposureOf(model)): LineChart[] {
  const { days, path, facts } = model
  const { name, caveat, open_since } = facts
  const byMonth = new Map(months.map(each => [Date.UTC(each.year, each.month - 1), each]))
  if (byMonth.size === 0) return []
  const line = (side: 'long' | 'short', kind: Line['kind'], sign: 1 | -1): Line => ({
    name: side,
    kind,
    first: days.from,
    values: path.daily.values.map((_, i) => {
      const share = byMonth.get(monthOf(toIsoDate(days.from + i)))?.[`${side}_pct`]
      return share == null ? Number.NaN : sign * share
    }),
  })
  const lines = [line('long', 'over', 1), line('short', 'under', -1)]
  const from = open_since === null ? days.to + 1 : monthOf(open_since) / DAY_MS
  const bands = [{ from, to: days.to, label: 'not known' }]
  const frame = { id: 'exposure', title: `Long and short of ${name}`, caveat, height: 160 }
  return [{ ...frame, days, y: 'linear', unit: 'percent', baseline: 0, lines, bands }]
}

const monthOf = (iso: string): number => Date.parse(iso.slice(0, 7))

export function exposure(model: SheetModel) {
  const months = exposureOf(model)
  if (months.length === 0) return html`<p>Not known: no position is without its trades.</p>`
  const known = months.filter(({ has_open_position: isOpen }) => !isOpen)
  const part = (some: 'long_pct' | 'short_pct' | 'flat_pct') =>
    percent(mean(known, month => month[some]) ?? 0)
  const means = `on average long ${part('long_pct')}, short ${part('short_pct')}, flat ${part('flat_pct')}`
  const { open_since } = model.facts
  return html`${raw(exposureCharts(model, months).map(namedLineChart).join(''))}<p class="note">Share of each month in which closed trades were long, above the line, and short, below it. ${known.length} of ${months.length} months are known: ${known.length > 0 ? means : 'none'}.${known.length < months.length ? ` Shaded: not known, because a position is open since ${dayText(open_since ?? '')}.` : ''}</p>`
}

/** Those that ended in the range: no risk level changes them. */
export function tradesChart({ trades, days, facts: { name, caveat } }: SheetModel): string {
  const dots = trades
    .filter(({ exit_time }) => exit_time >= days.from * DAY_MS && exit_time < (days.to + 1) * DAY_MS)
    .map(({ entry_time, exit_time, return_pct, result }) => ({
      ...{ days: (exit_time - entry_time) / DAY_MS, return_pct, result },
    }))
  const title = `Trades of ${name}: days held and return on notional`
  return dotChart({ id: 'trades', title, caveat, dots })
}
