// What the opened seals say of a strategy and of their chain: of public bytes alone, and kept in the snapshot.
import type { ValueOf } from '#core/contract/payloads/field.ts'
import type { liveData } from '#core/contract/payloads/live.ts'
import type { OpenedSignals } from '#core/figures/live-figures.ts'

export type LiveRecord = OpenedSignals
export type LiveSignal = LiveRecord['signals'][number]
export type LiveEvent = LiveRecord['events'][number]
export const LIVE_EVENTS = ['live', 'ended', 'halt', 'resume'] as const

/** The chain, as far as it is opened. Instants and dates are ISO. */
export type SealsRecord = NonNullable<ValueOf<ReturnType<typeof liveData>>['seals']>
