import type { TvStatus } from '#core/contract/payloads/strategy.ts'
import { endOfBars } from '#core/replay/bars.ts'
import {
  type ChartComparison,
  compareCharting,
  ENOUGH_TRADES,
  FEW_TRADES,
} from '#core/replay/compare-charting.ts'
import { slippagePrice } from '#core/replay/trade.ts'
import { costsOf } from '../modules/module-input.ts'
import type { History, HistoryTask } from './histories.ts'

/**
 * The status that the exports of a charting tool give a history, and notices about them. Only the export of the
 * module's version counts, so that a new version is provisional until its trades are exported again.
 */
export function checkCharting(
  { entry, bars }: Pick<HistoryTask, 'entry' | 'bars'>,
  { trades, moduleVersion }: Pick<History, 'trades' | 'moduleVersion'>,
): { readonly status: TvStatus; readonly notices: readonly string[] } {
  const { id, charting } = entry
  if (bars === null) return { status: 'not_applicable', notices: [] }
  const own = charting.find(({ version }) => version === moduleVersion)
  if (own === undefined) {
    const name = moduleVersion === null ? `${id}.csv` : `${id}.${moduleVersion}.csv`
    const notice = `${id}: provisional, because no export is of this version: export its trades as charting/${name}`
    return { status: 'provisional', notices: charting.length === 0 ? [] : [notice] }
  }
  const comparison = compareCharting(trades, own, {
    timeframeMs: bars.timeframeMs,
    tolerance: entry.tick_size * (1 + TICK_DUST) + slippagePrice(costsOf(entry)),
    endMs: endOfBars(bars),
    zone: entry.chart_zone,
  })
  return { status: comparison.status, notices: [`${id}: ${explain(comparison, own.path, entry.chart_zone)}`] }
}

function explain(
  { status, matched, compared, share, lacks }: ChartComparison,
  path: string,
  zone: string | null,
) {
  const covered = `${path}, which covers ${Math.floor(share * 1000) / 10} % of its trades`
  const found = `${status}, because ${matched} of ${compared} trades match ${covered}`
  if (lacks === 'coverage') return `${found}, too few: export all of its trades`
  if (lacks === 'trades')
    return `${found}; ${ENOUGH_TRADES} trades are needed, or ${FEW_TRADES} that are spread over a year`
  const isZoneOpen = status === 'diverged' && zone === null
  return isZoneOpen
    ? `${found}; if the chart has daylight saving time, state its chart_zone in the catalogue`
    : found
}

/** Prices are binary fractions: 100.1 and 100.2 differ by a little more than a tick of 0.1. */
const TICK_DUST = 1e-6
