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
  const account = accounts[0]! // the other has the same trades
  const differing: ReportedSpan[] = []
  let span = {
    from: daily.first,
    returned: 1,
    before: equitiesAt(daily.first),
    isKnown: account.open.length === 0,
  }
  let isBooked = true // returns follow the exits
  let compared = -1 // trades up to the last midnight without a position
  daily.values.forEach((value, i) => {
    span.returned *= 1 + value
    const { from, returned, before, isKnown } = span
    const [to, equities] = [dayOf(daily, i), equitiesAt(dayOf(daily, i) + 1)]
    const most = tolerance * (to + 1 - from)
    const agree = equities.map((equity, k) => Math.abs(returned - equity / before[k]!) <= most)
    isBooked &&= agree[0]!
    if (account.open.length > 0) return
    compared = account.taken.length
    if (isKnown && !agree.includes(true))
      differing.push({ from, to, returned: returned - 1, ledger: equities[0]! / before[0]! - 1 })
    span = { from: to + 1, returned: 1, before: equities, isKnown: true }
  })
  const { taken, open } = account
  const { from, returned } = span
  const hasClosed = taken.length > open.length // then idle days in front do not count as compared
  const isHidden = taken.length > 0 && compared < (hasClosed ? 1 : 0)
  if (isHidden && !isBooked && dayOf(daily, daily.values.length) - from >= LEAST_DAYS)
    differing.push({ from, to: from, returned: returned - 1, ledger: Number.NaN })
  return differing
}
