export type S3Patience = {
  /** Attempts of a request before its error is thrown. */
  readonly tries: number
  readonly connectMs: number
  /** Longest silence of a server that is at work on a request. */
  readonly silenceMs: number
}

/** For a tier: a client waits for the answer, and a file that cannot be read is computed instead. */
export const SERVING_PATIENCE: S3Patience = { tries: 3, connectMs: 2_000, silenceMs: 5_000 }

/** Seven tries with doubling pauses bridge an outage of some seconds; a longer one needs a person. */
export const PUBLISHING_PATIENCE: S3Patience = { tries: 7, connectMs: 5_000, silenceMs: 20_000 }
