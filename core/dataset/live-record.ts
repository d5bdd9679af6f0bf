// What the opened seals say of a strategy and of their chain: of public bytes alone, and kept in the snapshot.
import type { SignalAction } from '#core/contract/signal.ts'

/** An opened signal that is no test. */
export type LiveSignal = {
  /** Number of its seal. */
  readonly n: number
  readonly seq: number
  readonly action: SignalAction
  /** When the decision was made, as the signal says; epoch milliseconds, as all times here. */
  readonly timestamp: number
  readonly mode: 'LIVE' | 'DRY_RUN'
  /** `strategy`, or `operator:NAME`. */
  readonly by: string
  /** `to` of its seal, by the clock of the publisher. */
  readonly sealed: number
  /** The first time stamp at or after its seal; null without one. */
  readonly stamped: number | null
}

export const LIVE_EVENTS = ['live', 'ended', 'halt', 'resume'] as const

/** An opened event; `alias` is the strategy, or `*` for all. */
export type LiveEvent = {
  readonly n: number
  readonly event: (typeof LIVE_EVENTS)[number]
  readonly alias: string
  readonly at: number
  readonly by: string
  readonly why: string | null
  readonly sealed: number
}

/** What was opened of a strategy, both in the order of the chain. */
export type LiveRecord = {
  /** Length of its bars; null without bars. */
  readonly bar_minutes: number | null
  readonly signals: readonly LiveSignal[]
  readonly events: readonly LiveEvent[]
}

/** The chain, as far as it is opened. Instants and dates are ISO. */
export type SealsRecord = {
  /** `from` of the first seal. */
  readonly since: string
  /** The last day that is opened; null before the first. */
  readonly opened_to: string | null
  /** Seals up to the end of that day. */
  readonly seals: number
  /** Times that one seal spans because none was made for more than 600 s. */
  readonly gaps: readonly { readonly from: string; readonly to: string }[]
  /** Seals that cannot be opened, with the reason of the publisher. */
  readonly lost: readonly { readonly n: number; readonly why: string }[]
  /** Numbers of signals that no seal has, although later ones are sealed. */
  readonly skipped: readonly { readonly from: number; readonly to: number }[]
  /** The name in the newest time stamp; null without any. */
  readonly stamped_by: string | null
  /** Each origin, and the first seal of it. */
  readonly origins: readonly { readonly origin: string; readonly n: number }[]
}
