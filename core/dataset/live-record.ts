// What the opened seals say of a strategy and of their chain: of public bytes alone, and kept in the snapshot.
import type { OpenedSignals } from '#core/figures/live-figures.ts'

export type LiveRecord = OpenedSignals
export type LiveSignal = LiveRecord['signals'][number]
export type LiveEvent = LiveRecord['events'][number]
export const LIVE_EVENTS = ['live', 'ended', 'halt', 'resume'] as const

/** The chain, as far as it is opened. Instants and dates are ISO. */
export type SealsRecord = {
  /** `from` of the first seal. */
  readonly since: string
  /** The last day that is opened; null before the first. */
  readonly opened_to: string | null
  /** Seals up to the end of that day. */
  readonly seals: number
  /** The newest of them; `digest` is base64. A time stamp of a version bounds the chain by it. */
  readonly newest: { readonly n: number; readonly digest: string } | null
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
