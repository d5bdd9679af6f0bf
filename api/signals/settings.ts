/** Version of the interface of both the signals service and the operator. */
export const API_VERSION = '1.0'

/** What the operator decides about the signals service. */
export type SignalsSettings = {
  /** Address of the service as its users see it, without a slash at the end. */
  readonly publicBaseUrl: string
  /** Addresses and networks of the proxies in front, whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[]
  /** When this version of the interface was deprecated, epoch ms, null as long as it is not. */
  readonly deprecatedAtMs: number | null
  /** When it will stop answering, epoch ms, null where no date is set. */
  readonly sunsetAtMs: number | null
}
