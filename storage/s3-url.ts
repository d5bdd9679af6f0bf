import { assertKey } from './object-store.ts'

/** The place of a store in a bucket; the prefix is '' or ends in a slash. */
export type S3Place = { readonly bucket: string; readonly prefix: string }

const S3_URL = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/

/** The parts of `s3://bucket/prefix`. Throws a sentence with the legal form. */
export function parseS3Url(url: string): S3Place {
  const [, bucket, path = ''] = S3_URL.exec(url) ?? []
  const prefix = path.replace(/\/+$/, '')
  if (bucket === undefined) {
    throw new Error(
      `not a store: ${JSON.stringify(url)}; expected s3://bucket/prefix, the bucket in small letters, digits, '.' and '-'`,
    )
  }
  if (prefix !== '') assertKey(prefix)
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` }
}

/** The one spelling of a place, without a slash at its end. */
export const toS3Url = ({ bucket, prefix }: S3Place): string => `s3://${bucket}/${prefix}`.replace(/\/$/, '')
