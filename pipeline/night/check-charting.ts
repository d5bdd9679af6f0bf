import type { TvStatus } from '#core/contract/payloads/strategy.ts'
import { endOfBars } from '#core/replay/bars.ts'
import { compareCharting } from '#core/replay/compare-charting.ts'
import { slippagePrice } from '#core/replay/trade.ts'
import { costsOf, type History, type HistoryTask } from './histories.ts'

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
  const { timeframeMs } = bars
  const tolerance = entry.tick_size * (1 + TICK_DUST) + slippagePrice(costsOf(entry))
  const { status, matched, compared } = compareCharting(trades, own, {
    timeframeMs,
    tolerance,
    endMs: endOfBars(bars),
  })
  return { status, notices: [`${id}: ${status}, because ${matched} of ${compared} trades match ${own.path}`] }
}

/** Prices are binary fractions: 100.1 and 100.2 differ by a little more than a tick of 0.1. */
const TICK_DUST = 1e-6
