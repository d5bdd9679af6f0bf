/** What the operator decides about the history service. */
export type HistorySettings = {
  /** Origins of web pages that may read the service. */
  readonly allowedOrigins: ReadonlySet<string>
  /** Address of the service as its users see it, without a slash at the end. */
  readonly publicBaseUrl: string
  /** When this version of the interface was deprecated, epoch ms, null as long as it is not. */
  readonly deprecatedAtMs: number | null
  /** When it will stop answering, epoch ms, null where no date is set. */
  readonly sunsetAtMs: number | null
}
