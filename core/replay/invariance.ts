import { type Bars, barAt, describeInstant, lastAtOrBefore, toBars } from './bars.ts'
import type { StepEvent } from './events.ts'
import type { Decision, Position, Strategy } from './strategy.ts'
import type { Trade } from './trade.ts'

// Each check returns null if it holds, and otherwise the first difference in one sentence.

/** The same events, to the last bit. */
export function describeEventDifference(a: readonly StepEvent[], b: readonly StepEvent[]): string | null {
  return describeFirst(a, b, (one, other) => JSON.stringify(one) === JSON.stringify(other))
}

function describeFirst<Of extends { readonly t: number }>(
  a: readonly Of[],
  b: readonly Of[],
  isSame: (one: Of | undefined, other: Of | undefined) => boolean,
): string | null {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    if (isSame(a[i], b[i])) continue
    const first = Math.min(a[i]?.t ?? Number.POSITIVE_INFINITY, b[i]?.t ?? Number.POSITIVE_INFINITY)
    return `the first bar that differs is that of ${describeInstant(first)}`
  }
  return null
}

/** A decision that was executed, refused or ignored. The stop of an ignored one is not known: null. */
export type Decided = { readonly t: number; readonly act: string; readonly stop: number | null }

/**
 * What a strategy decides on bars from its first one on, while it is shown the positions of given trades: of a run that
 * began earlier. Decisions that the engine would ignore are reported like its `ignored` events.
 */
export function decideBeside(strategy: Strategy, bars: Bars, trades: readonly Trade[]): Decided[] {
  const state = strategy.init()
  const decided: Decided[] = []
  let next = 0
  for (let i = 0; i < bars.t.length; i++) {
    const bar = barAt(bars, i)
    while (next < trades.length && (trades[next]!.exit_time ?? Number.POSITIVE_INFINITY) <= bar.t) next++
    const position = positionAt(trades[next], bar.t)
    const decision = strategy.onBar(state, bar, position)
    if (decision !== null) decided.push(toDecided(bar.t, decision, position))
  }
  return decided
}

/** The position at the close of the bar that opens at `t`, if the trade is the first that exits after it. */
function positionAt(trade: Trade | undefined, t: number): Position | null {
  if (trade === undefined || trade.entry_time > t) return null
  const { side, entry_time, entry_price, stop } = trade
  return { side, entry_time, entry_price, stop: stop! } // a trade of the engine has its stop
}

function toDecided(t: number, decision: Exclude<Decision, null>, position: Position | null): Decided {
  const isIgnored = decision.act === (position?.side ?? 'flat')
  return { t, act: decision.act, stop: isIgnored || decision.act === 'flat' ? null : decision.stop }
}

/** The decisions of a run, one a bar: of a reversal, the new side. */
export function decisionsOf(events: readonly StepEvent[]): Decided[] {
  const byBar = new Map<number, Decided>()
  for (const event of events) {
    if (event.kind === 'opened' || event.kind === 'closed') continue
    const stop = event.kind === 'ignored' || event.act === 'flat' ? null : event.stop
    byBar.set(event.t, { t: event.t, act: event.act, stop })
  }
  return [...byBar.values()]
}

/** Two stops agree within this fraction: the start's influence on an average decays but never vanishes. */
const STOP_TOLERANCE = 1e-6

/** The first bar, from `fromMs` on, on which two runs decide differently. */
export function describeDecisionDifference(
  a: readonly Decided[],
  b: readonly Decided[],
  fromMs: number,
): string | null {
  const [one, other] = [a, b].map(all => all.filter(({ t }) => t >= fromMs)) as [Decided[], Decided[]]
  return describeFirst(one, other, isSame)
}

const isSame = (a: Decided | undefined, b: Decided | undefined): boolean =>
  a?.t === b?.t &&
  a?.act === b?.act &&
  Math.abs((a?.stop ?? 0) - (b?.stop ?? 0)) <= STOP_TOLERANCE * (a?.stop ?? 0)

/**
 * The first of the bars from `fromMs` on at whose close a run has no position, or one that it entered since: a
 * strategy that begins in the middle of a trade does not know how the trade began. Null if there is none.
 */
export function firstOwnBar(bars: Bars, trades: readonly Trade[], fromMs: number): number | null {
  for (let i = lastAtOrBefore(bars.t, fromMs - 1) + 1; i < bars.t.length; i++) {
    const t = bars.t[i]!
    const held = trades.find(
      ({ entry_time, exit_time }) => entry_time <= t && (exit_time ?? Number.POSITIVE_INFINITY) > t,
    )
    if (held === undefined || held.entry_time >= fromMs) return t
  }
  return null
}

/** Made-up bars after these: a price that moves without direction, from the last close on. `uniform` is in (0, 1). */
export function addNoise(bars: Bars, count: number, uniform: () => number): Bars {
  const longer = toBars(bars.timeframeMs, name => {
    const column = new Float64Array(bars.t.length + count)
    column.set(bars[name])
    return column
  })
  const { timeframeMs, t, o, h, l, c, v } = longer
  for (let i = bars.t.length; i < t.length; i++) {
    t[i] = t[i - 1]! + timeframeMs
    o[i] = c[i - 1]!
    c[i] = o[i]! * Math.exp((uniform() - 0.5) / 5)
    h[i] = Math.max(o[i]!, c[i]!) * (1 + uniform() / 50)
    l[i] = Math.min(o[i]!, c[i]!) / (1 + uniform() / 50)
    v[i] = uniform()
  }
  return longer
}
