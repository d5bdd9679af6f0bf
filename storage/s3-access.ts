import { S3Client } from '@aws-sdk/client-s3'
import { PUBLISHING_PATIENCE, type S3Patience } from './s3-patience.ts'

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

/** Requests that a client has under way at the most: beyond it more sockets only wait for the server. */
export const MOST_SOCKETS = 64

/** A client for the service. It keeps its connections; `destroy()` ends them. */
export const createS3Client = (
  { endpoint, region, credentials }: S3Access,
  { tries, connectMs, silenceMs }: S3Patience = PUBLISHING_PATIENCE,
): S3Client =>
  new S3Client({
    region,
    ...(endpoint === null ? {} : { endpoint }),
    ...(credentials === null ? {} : { credentials }),
    forcePathStyle: true, // compatible services have no DNS name for each bucket
    maxAttempts: tries,
    // Services beside the original one do not know trailing checksums; digests of our own go with every
    // object.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: silenceMs,
      throwOnRequestTimeout: true,
      socketTimeout: silenceMs, // a server that falls silent in the middle of a body
      httpAgent: { keepAlive: true, maxSockets: MOST_SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: MOST_SOCKETS },
    },
  })
