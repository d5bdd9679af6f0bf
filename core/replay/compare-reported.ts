import { DAY_MS, type EpochDay } from '#core/calendar.ts'
import { dayOf, type Series } from '#core/figures/series.ts'
import { advanceTo, openAccount } from './marks.ts'
import type { ResolvedTrade, TradeTerms } from './resolve-trade.ts'

/** Days over which another return was reported than the ledger makes; `ledger` is NaN on the first that cannot be compared. */
export type ReportedSpan = Readonly<Record<'from' | 'to', EpochDay> & Record<'returned' | 'ledger', number>>

/** Of fewer days it may be chance that none can be compared. */
const LEAST_DAYS = 20

/**
 * Compares reported returns with the ledger beside them; `tolerance` is that of one day. Without bars a ledger has no mark
 * while a trade is open, so the growth from one midnight without a position to the next is compared. The maker of a
 * result may count open trades to the account at an entry, or only what is realised: either may agree. A position at
 * every midnight since the first trade would hide any return but those that only exits make, so that is a difference, too.
 */
export function compareReported(
  daily: Series,
  trades: readonly ResolvedTrade[],
  terms: TradeTerms,
  tolerance: number,
): ReportedSpan[] {
  const unvalued = trades.map(trade => ({ ...trade, leverage: null })) // worth nothing until its exit
  const accounts = [openAccount(unvalued, terms), openAccount(trades, terms)]
  const equitiesAt = (day: EpochDay): number[] => {
    for (const account of accounts) advanceTo(account, day * DAY_MS)
    return accounts.map(({ unit, realised }) => unit * realised)
  }
  const isFlat = () => accounts[0]!.open.length === 0
  const differing: ReportedSpan[] = []
  let [returned, from, before, isKnown] = [1, daily.first, equitiesAt(daily.first), isFlat()]
  let [compared, isBooked] = [-1, true] // trades up to the last midnight without a position; whether returns follow exits
  daily.values.forEach((value, i) => {
    returned *= 1 + value
    const [to, equities] = [dayOf(daily, i), equitiesAt(dayOf(daily, i) + 1)]
    const most = tolerance * (to + 1 - from)
    const agree = equities.map((equity, k) => Math.abs(returned - equity / before[k]!) <= most)
    isBooked &&= agree[0]!
    if (!isFlat()) return
    compared = accounts[0]!.taken.length
    if (isKnown && !agree.includes(true))
      differing.push({ from, to, returned: returned - 1, ledger: equities[0]! / before[0]! - 1 })
    ;[returned, from, before, isKnown] = [1, to + 1, equities, true]
  })
  const { taken, open } = accounts[0]!
  const isHidden = taken.length > 0 && compared < (taken.length > open.length ? 1 : 0)
  if (isHidden && !isBooked && dayOf(daily, daily.values.length) - from >= LEAST_DAYS)
    differing.push({ from, to: from, returned: returned - 1, ledger: Number.NaN })
  return differing
}
