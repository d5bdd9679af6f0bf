// Stores of a test in a bucket of the S3 server that a run starts, and the environment in which a process finds them.
import { randomUUID } from 'node:crypto'
import { CreateBucketCommand, PutBucketPolicyCommand, type S3Client } from '@aws-sdk/client-s3'
import { inject } from 'vitest'
import { openStore } from '#storage/open-store.ts'
import type { S3Access } from '#storage/s3-access.ts'
import { createS3Client } from '#storage/s3-store.ts'
import type { Stores } from '../books/publish-book.ts'
import { copyAll } from '../books/publish-in-memory.ts'
import { atEnd } from '../ends.ts'
import { shared } from '../runner/shared.ts'
import type { ServerAccess } from '../servers/s3-server.ts'

/** The server of this run. Rejects if it does not start. */
export const s3Server = (): Promise<ServerAccess> => shared('s3')

/** A client of the tests' own, past the store. */
export async function s3Client(): Promise<S3Client> {
  const client = createS3Client(await s3Server())
  atEnd(() => client.destroy())
  return client
}

/** A new bucket, empty; it goes with the server. */
export async function newBucket(): Promise<string> {
  const Bucket = `test-${randomUUID()}`
  await (await s3Client()).send(new CreateBucketCommand({ Bucket }))
  return Bucket
}

/** Two stores in a bucket of their own that nothing was published in. */
export async function newS3Stores(): Promise<Required<Stores>> {
  const bucket = await newBucket()
  return { url: `s3://${bucket}/store`, privateUrl: `s3://${bucket}/store.private`, s3: await s3Server() }
}

/** Two stores in a bucket with what others have published in folders. */
export async function copyToBucket(from: Stores): Promise<Required<Stores>> {
  const to = await newS3Stores()
  await copyAll(await openStore(from.url), await openStore(to.url, to.s3))
  await copyAll(await openStore(from.privateUrl), await openStore(to.privateUrl, to.s3))
  return to
}

/** Two stores in a bucket with the version that every test run publishes. */
export const tinyS3Stores = (): Promise<Required<Stores>> => copyToBucket(inject('tinyStore'))

/** From now on the bucket can only be read. */
export async function forbidWriting(bucket: string): Promise<void> {
  const statement = {
    Effect: 'Deny',
    Principal: '*',
    Action: ['s3:PutObject', 's3:DeleteObject'],
    Resource: `arn:aws:s3:::${bucket}/*`,
  }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await (await s3Client()).send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }))
}

/** The environment of a process that reaches a server. */
export const s3Env = ({ endpoint, region, credentials }: S3Access): Record<string, string> => ({
  AWS_REGION: region,
  ...(endpoint === null ? {} : { AWS_ENDPOINT_URL_S3: endpoint }),
  ...(credentials === null
    ? {}
    : { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey }),
})
