// How much of a bare PutObject loop's throughput publishing through our store keeps, on the same server at the same
// concurrency. Run: node bench/publish-s3.ts (it starts its own S3 server; writes bench/results/publish-s3.md)
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import pMap from 'p-map'
import { createRandom } from '#pipeline/sample/random.ts'
import { createS3Client, MOST_SOCKETS } from '#storage/s3-access.ts'
import { createS3Store } from '#storage/s3-store.ts'
import { writeOnce } from '#storage/write-once.ts'
import { startS3Server } from '#test/support/servers/s3-server.ts'

const OBJECTS = 10_000
const OBJECT_BYTES = 20_000

/** Both take turns in slices, so that whatever else the machine does meets both alike. */
const TURNS = 10
const PER_TURN = OBJECTS / TURNS

const HEADERS = {
  content_type: 'application/json; charset=utf-8',
  cache_control: 'max-age=31536000, immutable',
}

const BUCKET = 'bench'

const server = await startS3Server()
try {
  report(await race(createS3Client(server.access)))
} finally {
  await server.stop()
}

type Seconds = { bare: number; ours: number }

async function race(client: S3Client): Promise<Seconds> {
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  const store = createS3Store(`s3://${BUCKET}/ours`, server.access)
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

function report({ bare, ours }: Seconds): void {
  const rate = (seconds: number): string => (OBJECTS / seconds).toFixed(0)
  const text = `# Publishing ${OBJECTS.toLocaleString('en')} objects of ${OBJECT_BYTES / 1000} kB

${new Date().toISOString().slice(0, 10)}, ${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}; the server (Ceph radosgw, objects in memory)
runs on the same cores, and the load average at the end was ${loadavg()[0]?.toFixed(1)}. ${MOST_SOCKETS} requests at a time, in ${TURNS} alternating turns of one run.

| | objects/s | seconds |
|---|---|---|
| bare \`PutObject\` loop | ${rate(bare)} | ${bare.toFixed(1)} |
| our store: MD5, SHA-256, conditional create, metadata | ${rate(ours)} | ${ours.toFixed(1)} |

Ours keeps **${((100 * bare) / ours).toFixed(0)} %** of the bare loop's throughput; the target is 70 %.
`
  const path = join(import.meta.dirname, 'results/publish-s3.md')
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  console.log(text)
}
