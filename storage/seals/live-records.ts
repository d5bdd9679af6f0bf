// What was opened, as the live record of each strategy and of the chain.
import { toIsoInstant } from '#core/calendar.ts'
import type { SealsRecord } from '#core/contract/payloads/live.ts'
import { LIVE_EVENTS, type OpenedSignals } from '#core/figures/live-figures.ts'
import { gapsOf, type Opened, type OpenedItem, type PublicSeal, startsOf } from './chain.ts'
import { dateOf, parseItem } from './seal.ts'

/**
 * The record of each strategy that was ever live, by id, and that of the chain up to the last opened day. Strategies that are not
 * named have no bars, as those have that left the catalogue.
 */
export function liveRecordsOf(
  opened: Opened,
  all: readonly PublicSeal[],
  strategies: readonly { readonly id: string; readonly bar_minutes: number | null }[],
): { readonly seals: SealsRecord; readonly live: ReadonlyMap<string, OpenedSignals> } {
  const signals = Map.groupBy(opened.items.flatMap(toSignal), ({ alias }) => alias)
  const events = opened.items.flatMap(toEvent)
  const barMinutes = new Map(strategies.map(({ id, bar_minutes }) => [id, bar_minutes]))
  const live = new Map<string, OpenedSignals>()
  for (const id of new Set([...signals.keys(), ...events.map(({ alias }) => alias)].sort())) {
    const record = {
      bar_minutes: barMinutes.get(id) ?? null,
      signals: (signals.get(id) ?? []).map(({ signal }) => signal),
      events: events.filter(({ alias }) => alias === id || alias === '*'),
    }
    if (isLive(record)) live.set(id, record)
  }
  const { openedTo, lost, skipped, stamps } = opened
  const own = all.filter(({ seal }) => openedTo !== null && dateOf(seal) <= openedTo)
  const newest = own.at(-1)
  const seals: SealsRecord = {
    since: toIsoInstant(all[0]?.seal.fromMs ?? 0),
    opened_to: openedTo,
    seals: own.length,
    newest: newest ? { n: newest.seal.n, digest: newest.digest } : null,
    gaps: gapsOf(own),
    lost,
    skipped,
    stamped_by: stamps.at(-1)?.by ?? null,
    origins: startsOf(own).map(({ seal: { origin, n } }) => ({ origin, n })),
    absent: [...live.keys()].filter(id => id !== '*' && !barMinutes.has(id)),
  }
  return { seals, live }
}

const isLive = ({ signals, events }: OpenedSignals): boolean =>
  signals.some(({ mode, action }) => mode === 'LIVE' && action !== 'flat') ||
  events.some(({ event }) => event === 'live')

function toSignal({ n, item, sealedMs, stampedMs }: OpenedItem) {
  const found = parseItem(item)
  if (found?.kind !== 'signal' || found.signal.is_test) return []
  const { seq, alias, action, mode, timestamp, by = 'unknown' } = found.signal
  const times = { timestamp: Date.parse(timestamp), sealed: sealedMs, stamped: stampedMs }
  return [{ alias, signal: { n, seq, action, mode, by, ...times } }]
}

function toEvent({ n, item, sealedMs }: OpenedItem) {
  const found = parseItem(item)
  if (found?.kind !== 'event') return []
  const { alias, at, by, why } = found.event
  const event = LIVE_EVENTS.find(each => each === found.event.event)
  if (event === undefined || alias === null) return []
  return [{ n, event, alias, at: Date.parse(at), by, why, sealed: sealedMs }]
}
