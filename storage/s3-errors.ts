import { S3ServiceException } from '@aws-sdk/client-s3'
import { codeOf } from './error-code.ts'

/** A failure that is told by us and not by the client: an object that came broken. Trying again may mend it. */
export class BrokenObjectError extends Error {}

/** Whether an error says that there is no such object; that there is no such bucket is another matter. */
export const isNoObject = (error: unknown): boolean => nameOf(error) === 'NoSuchKey'

/** Whether a conditional write found the key taken. */
export const isTaken = (error: unknown): boolean => statusOf(error) === 412

/** Whether two conditional writes met, and this one has to be tried again. */
export const isConflict = (error: unknown): boolean => statusOf(error) === 409

/** How often the client tried before it gave up. It writes that on whatever it throws. */
export const triesOf = (error: unknown): number => metadataOf(error)?.attempts ?? 1

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

const BROKEN_OFF = new Set(['ECONNRESET', 'EPIPE'])

/** What happened, and what an operator can do about it, as the end of a sentence. */
export function describeS3Error(error: unknown, bucket: string): string {
  if (error instanceof BrokenObjectError) return error.message
  const name = nameOf(error)
  if (name === 'NoSuchBucket') return `there is no bucket '${bucket}': create it, or mend the name in the URL`
  if (name === 'CredentialsProviderError') {
    return 'no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
  }
  if (name === 'RequestTimeTooSkewed') return 'the service finds our clock wrong: set it, and try again'
  const status = statusOf(error)
  if (status === 403) {
    return (
      `the service refuses (${name}): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they have the right ` +
      `to read, write and list in bucket '${bucket}'`
    )
  }
  if (status !== null && status >= 500) {
    return `the service answered ${status} (${name}) ${tries(error)}: run the command again when it has recovered`
  }
  return describeConnection(error) ?? describeUnknown(error)
}

function describeConnection(error: unknown): string | null {
  const code = String(codeOf(error))
  if (UNREACHABLE.has(code)) {
    return `the service cannot be reached (${code}) ${tries(error)}: check AWS_ENDPOINT_URL_S3 and the network`
  }
  if (BROKEN_OFF.has(code)) {
    return `the connection broke off (${code}) ${tries(error)}: run the command again when the service has recovered`
  }
  return nameOf(error) === 'TimeoutError'
    ? `the service did not answer in time ${tries(error)}: run the command again when it has recovered`
    : null
}

const describeUnknown = (error: unknown): string =>
  `${error instanceof Error && error.message !== '' ? error.message : nameOf(error)} (${nameOf(error)}): mend that, and run ` +
  'the command again'

const tries = (error: unknown): string => `in ${triesOf(error)} tries`

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : String(error))

const statusOf = (error: unknown): number | null =>
  error instanceof S3ServiceException ? (metadataOf(error)?.httpStatusCode ?? null) : null

type Metadata = S3ServiceException['$metadata']

/** The client puts it on every error that it throws, those of the network among them. */
const metadataOf = (error: unknown): Partial<Metadata> | null =>
  error instanceof Error && '$metadata' in error ? (error.$metadata as Metadata) : null
