// How much of a bare PutObject loop's throughput publishing through our store keeps, on the same server at the same concurrency.
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import pMap from 'p-map'
import { createRandom } from '#pipeline/sample/random.ts'
import { writeOnce } from '#storage/object-store.ts'
import { createS3Client, createS3Store, MOST_SOCKETS } from '#storage/s3-store.ts'
import { type ServerAccess, startS3Server } from '#test/support/servers/s3-server.ts'
import type { Ground } from '../harness/ground.ts'
import { atLeast, plain, type Section } from '../harness/report.ts'

const OBJECTS = 10_000
const OBJECT_BYTES = 20_000
const TARGET = 0.7

/** Both take turns in slices, so that whatever else the machine does meets both alike. */
const TURNS = 10
const PER_TURN = OBJECTS / TURNS

const HEADERS = {
  content_type: 'application/json; charset=utf-8',
  cache_control: 'max-age=31536000, immutable',
}

const BUCKET = 'bench'

export async function measurePublishing({ stops }: Ground): Promise<Section> {
  const server = await startS3Server()
  stops.push(server.stop)
  const { bare, ours } = await race(server.access)
  return {
    title: 'Publishing into a bucket',
    about:
      `${OBJECTS} objects of ${OBJECT_BYTES / 1000} kB that nothing compresses; Ceph radosgw with objects in memory, on the same cores; ` +
      `${MOST_SOCKETS} requests at a time, in ${TURNS} turns of each. Ours: MD5, SHA-256, conditional create, metadata.`,
    figures: [
      plain('bare `PutObject` loop', OBJECTS / bare, 'objects a second'),
      plain('our store', OBJECTS / ours, 'objects a second'),
      atLeast('ours to bare', bare / ours, TARGET),
    ],
  }
}

type Seconds = { bare: number; ours: number }

async function race(access: ServerAccess): Promise<Seconds> {
  const client = createS3Client(access)
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  const store = createS3Store(`s3://${BUCKET}/ours`, access)
  const bodies = Array.from({ length: PER_TURN }, (_, i) => body(i))
  const bare = (bytes: Uint8Array, name: string) =>
    client.send(new PutObjectCommand({ Bucket: BUCKET, Key: `bare/${name}`, Body: bytes }))
  const ours = (bytes: Uint8Array, name: string) => writeOnce(store, name, bytes, HEADERS)
  const seconds: Seconds = { bare: 0, ours: 0 }
  await time(bodies, 'warm-up', bare)
  await time(bodies, 'warm-up', ours)
  for (let turn = 0; turn < TURNS; turn++) {
    // The order alternates, because the second one writes into a larger bucket.
    const order = turn % 2 === 0 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const)
    for (const side of order)
      seconds[side] += await time(bodies, `turn-${turn}`, side === 'bare' ? bare : ours)
  }
  client.destroy()
  return seconds
}

type Put = (bytes: Uint8Array, name: string) => Promise<unknown>

async function time(bodies: readonly Uint8Array[], folder: string, put: Put): Promise<number> {
  const startedMs = performance.now()
  await pMap(bodies, (bytes, i) => put(bytes, `${folder}/${i}.json`), { concurrency: MOST_SOCKETS })
  return (performance.now() - startedMs) / 1000
}

/** Bytes that no server could compress. */
function body(seed: number): Uint8Array {
  const { uniform } = createRandom(seed)
  return Uint8Array.from({ length: OBJECT_BYTES }, () => uniform() * 256)
}
