// What names and reaches a bucket, without the client, which takes a fifth of a second to load.
import { assertKey } from './object-store.ts'

/** How to reach an S3-compatible service. Plain data: threads get a copy. Never printed. */
export type S3Access = {
  /** Address of the service; null for the one of the region. */
  readonly endpoint: string | null
  readonly region: string
  /** Null leaves it to the chain of the client: profile files, the role of the machine. */
  readonly credentials: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string
  } | null
}

/** The place of a store in a bucket; the prefix is '' or ends in a slash. */
export type S3Place = { readonly bucket: string; readonly prefix: string }

const S3_URL = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/

/** The parts of `s3://bucket/prefix`. Throws a sentence with the legal form. */
export function parseS3Url(url: string): S3Place {
  const [, bucket, path = ''] = S3_URL.exec(url) ?? []
  const prefix = path.replace(/\/+$/, '')
  if (bucket === undefined)
    throw new Error(
      `not a store: ${JSON.stringify(url)}; expected s3://bucket/prefix, the bucket in small letters, digits, '.' and '-'`,
    )
  if (prefix !== '') assertKey(prefix)
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` }
}

/** The one spelling of a place, without a slash at its end. */
export const toS3Url = ({ bucket, prefix }: S3Place): string => `s3://${bucket}/${prefix}`.replace(/\/$/, '')

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
