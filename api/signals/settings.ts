/** Version of the interface of both the signals service and the operator. */
export const API_VERSION = '1.0'

export type SignalsSettings = {
  /** Public address of the service, without a trailing slash. */
  readonly publicBaseUrl: string
  /** The same of the history service; null if it is not stated. */
  readonly historyBaseUrl: string | null
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[]
  /** Epoch ms; null if the version is not deprecated. */
  readonly deprecatedAtMs: number | null
  /** Epoch ms; null if no date is set. */
  readonly sunsetAtMs: number | null
}
