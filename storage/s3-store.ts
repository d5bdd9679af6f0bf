import { createHash } from 'node:crypto'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { sha256 } from './digest.ts'
import { codeOf } from './error-code.ts'
import {
  assertKey,
  CONDITIONAL_REMEDY,
  type ObjectHeaders,
  type ObjectStore,
  StoreError,
} from './object-store.ts'
import { retry } from './retry.ts'
import {
  PUBLISHING_PATIENCE,
  parseS3Url,
  type S3Access,
  type S3Patience,
  type S3Place,
  toS3Url,
} from './s3-access.ts'

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

type Place = S3Place & { readonly client: S3Client }

/** Tries of what the client does not retry: an object that came broken, two conditional writes that met. */
const MOST_TRIES = 4

/**
 * Every object is sent with its MD5, which the service verifies, and its SHA-256, which every read does. Conditional writes
 * decide races.
 */
export function createS3Store(name: string, access: S3Access, patience?: S3Patience): ObjectStore {
  const place: Place = { ...parseS3Url(name), client: createS3Client(access, patience) }
  const { client, bucket, prefix } = place
  const url = toS3Url(place)
  const guard = async <T>(action: string, key: string, run: () => Promise<T>): Promise<T> => {
    try {
      return await retry(run, MOST_TRIES, () => {}, mayPass)
    } catch (cause) {
      throw new StoreError(action, url, key, new Error(describeS3Error(cause, bucket), { cause }))
    }
  }
  const at = async <T>(action: string, key: string, run: () => Promise<T>): Promise<T> => {
    assertKey(key)
    return guard(action, key, run)
  }
  return {
    url,
    read: key => at('read', key, () => readObject(place, key)),
    has: key => at('look for', key, () => hasObject(place, key)),
    create: (key, bytes, headers) => at('create', key, createObject(place, key, bytes, headers)),
    replace: (key, bytes, headers) =>
      at('replace', key, async () => {
        await client.send(new PutObjectCommand(putInput(place, key, bytes, headers)))
      }),
    list: below => guard('list', below, () => listKeys(place, below)),
    remove: key =>
      at('remove', key, async () => {
        await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: prefix + key }))
      }),
  }
}

const DIGEST = 'sha256'

const putInput = (
  { bucket, prefix }: Place,
  key: string,
  bytes: Uint8Array,
  { content_type, content_encoding, cache_control }: ObjectHeaders,
): PutObjectCommandInput => ({
  Bucket: bucket,
  Key: prefix + key,
  Body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
  ContentMD5: createHash('md5').update(bytes).digest('base64'),
  ContentType: content_type,
  ContentEncoding: content_encoding,
  CacheControl: cache_control,
  Metadata: { [DIGEST]: sha256(bytes) },
})

async function readObject({ client, bucket, prefix }: Place, key: string): Promise<Uint8Array | null> {
  const got = await client
    .send(new GetObjectCommand({ Bucket: bucket, Key: prefix + key }))
    .catch((error: unknown) => {
      if (nameOf(error) === 'NoSuchKey') return null // that there is no such bucket is another matter
      throw error
    })
  if (got === null) return null
  const bytes = await got.Body!.transformToByteArray().catch((cause: unknown) => {
    throw new BrokenObjectError(
      'the connection broke off in the middle of the object, again and again: run the command again when the service ' +
        'has recovered',
      { cause },
    )
  })
  const digest = got.Metadata?.[DIGEST] // none if another program copied the object
  if (digest !== undefined && digest !== sha256(bytes))
    throw new BrokenObjectError(
      'the service returned other bytes than were written: restore the object from a copy',
    )
  return bytes
}

/** A refusal of HEAD has no body, so it does not say whether the object is missing or the bucket: reading the object does. */
async function hasObject(place: Place, key: string): Promise<boolean> {
  const { client, bucket, prefix } = place
  try {
    await client.send(new HeadObjectCommand({ Bucket: bucket, Key: prefix + key }))
    return true
  } catch (error) {
    if (!(error instanceof S3ServiceException)) throw error
    return (await readObject(place, key)) !== null
  }
}

/**
 * An attempt whose answer was lost may have written the object: the next one finds the same bytes there. So may a racer's: both
 * are right.
 */
function createObject(place: Place, key: string, bytes: Uint8Array, headers: ObjectHeaders) {
  const command = new PutObjectCommand({ ...putInput(place, key, bytes, headers), IfNoneMatch: '*' })
  let mayBeThere = false
  return async (): Promise<boolean> => {
    try {
      await place.client.send(command)
      return true
    } catch (error) {
      mayBeThere ||= triesOf(error) > 1
      if (statusOf(error) !== 412) throw error // the key is not taken
      const there = mayBeThere ? await readObject(place, key) : null
      return there !== null && Buffer.compare(there, bytes) === 0
    }
  }
}

const mayPass = (error: unknown): boolean => error instanceof BrokenObjectError || statusOf(error) === 409 // two conditional writes met

/** The service lists by code point, a thousand at a time. */
async function listKeys({ client, bucket, prefix }: Place, below: string): Promise<readonly string[]> {
  const keys: string[] = []
  const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix + below })
  for await (const { Contents = [] } of pages)
    for (const { Key } of Contents) if (Key !== undefined) keys.push(Key.slice(prefix.length))
  return keys
}

/** A failure found by this store and not by the client: a broken object. A retry may fix it. */
class BrokenObjectError extends Error {}

/** How often the client tried before it gave up. It writes that on whatever it throws, errors of the network among them. */
const triesOf = (error: unknown): number => Object(error).$metadata?.attempts ?? 1

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

const BROKEN_OFF = new Set(['ECONNRESET', 'EPIPE'])

/** What happened, and what an operator can do about it, as the end of a sentence. */
function describeS3Error(error: unknown, bucket: string): string {
  if (error instanceof BrokenObjectError) return error.message
  const name = nameOf(error)
  if (name === 'NoSuchBucket')
    return `there is no bucket '${bucket}': create it, or correct the name in the URL`
  if (name === 'CredentialsProviderError')
    return 'no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
  if (name === 'RequestTimeTooSkewed')
    return 'the service rejects the clock of this machine: set it, and try again'
  const status = statusOf(error)
  if (status === 403)
    return (
      `the service refuses (${name}): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they have the right ` +
      `to read, write and list in bucket '${bucket}'`
    )
  if (status === 501) return `the service cannot do this (${name}): ${CONDITIONAL_REMEDY}`
  if (status !== null && status >= 500)
    return `the service answered ${status} (${name}) ${tries(error)}: run the command again when it has recovered`
  const said = error instanceof Error && error.message !== '' ? error.message : name
  return describeConnection(error) ?? `${said} (${name}): correct that, and run the command again`
}

function describeConnection(error: unknown): string | null {
  const code = String(codeOf(error))
  if (UNREACHABLE.has(code))
    return `the service cannot be reached (${code}) ${tries(error)}: check AWS_ENDPOINT_URL_S3 and the network`
  if (BROKEN_OFF.has(code))
    return `the connection broke off (${code}) ${tries(error)}: run the command again when the service has recovered`
  return nameOf(error) === 'TimeoutError'
    ? `the service did not answer in time ${tries(error)}: run the command again when it has recovered`
    : null
}

const tries = (error: unknown): string => `in ${triesOf(error)} tries`

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : String(error))

const statusOf = (error: unknown): number | null =>
  error instanceof S3ServiceException ? (error.$metadata.httpStatusCode ?? null) : null
