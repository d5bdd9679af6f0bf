/** Every kind; docs/operating.md says of each what it means and what to do. */
export const ALERT_KINDS = [
  'exhausted',
  'disabled',
  'failing',
  'stuck',
  'our_fault',
  'relay_stuck',
  'redis_down',
  'redis_unsafe',
  'redis_full',
  'redis_wiped',
  'redis_read_only',
  'live_mismatch',
  'program_unreadable',
  'swap_failed',
  'swap_mended',
  'night_failed',
  'night_mended',
  'more',
] as const

export type AlertKind = (typeof ALERT_KINDS)[number]

export type Alert = {
  readonly kind: AlertKind
  /** A client, an alias or a part of the service. */
  readonly subject: string
  /** One sentence, with what to do. */
  readonly message: string
}
