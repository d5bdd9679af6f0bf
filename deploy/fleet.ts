// `make fleet`: a fleet on this machine. A coordinator, three workers, Redis and an S3 server publish the sample book; one
// worker is killed in the middle, and the version is compared with that of a single machine.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { freePort } from '#cli/services/free-port.ts'
import { startLocalServer } from '#cli/services/local-server.ts'
import { toIsoDate } from '#core/calendar.ts'
import { versionFolder } from '#core/contract/artifacts.ts'
import { SAMPLE_AS_OF, SAMPLE_VERSION, writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { listDone, readResult } from '#static-build/fleet/run-files.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { createS3Client, type S3Access } from '#storage/s3-access.ts'

const ROOT = join(import.meta.dirname, '..')
const RUN = 'demonstration'
const WORKERS = 3
const LOOK_MS = 50

const folder = await mkdtemp('/tmp/hw-fleet-') // short: Unix sockets lie in it
const endings: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
process.exitCode = await runFleet().catch(error => {
  console.error(`highwater: ${error instanceof Error ? error.message : String(error)}`)
  return 1
})
for (const end of endings.toReversed()) await end()

/** Resolves with the exit code: 0 if both versions are equal. */
async function runFleet(): Promise<number> {
  console.log('starting Redis and an S3 server (they are unpacked the first time)')
  const redis = await startServer('redis', ['redis'])
  const key = randomBytes(12).toString('hex')
  const s3 = await startServer('s3', ['ceph'], [key, key])
  const access: S3Access = {
    endpoint: s3,
    region: 'us-east-1',
    credentials: { accessKeyId: key, secretAccessKey: key },
  }
  await createS3Client(access).send(new CreateBucketCommand({ Bucket: 'fleet' }))
  const book = join(folder, 'book')
  await writeSampleBook(book)
  const build = [
    'build',
    '--book',
    book,
    '--version',
    SAMPLE_VERSION,
    '--as-of',
    toIsoDate(SAMPLE_AS_OF),
    '--json',
  ]

  console.log('building on one machine')
  const alone = pathToFileURL(join(folder, 'alone')).href
  await ended('the build on one machine', start([...build, '--store', alone], {}))

  console.log(`building on a fleet of ${WORKERS} workers`)
  const stores = ['--store', 's3://fleet/store', '--private-store', 's3://fleet/private']
  const env = {
    AWS_ENDPOINT_URL_S3: s3,
    AWS_ACCESS_KEY_ID: key,
    AWS_SECRET_ACCESS_KEY: key,
    FLEET_URL: redis,
  }
  const workers = Array.from({ length: WORKERS }, () => start(['worker', ...stores, '--threads', '1'], env))
  const coordinator = start([...build, ...stores, '--fleet', redis, '--run', RUN], env)
  await killFirst(await openStore('s3://fleet/private', access), workers, coordinator)
  await ended('the build on the fleet', coordinator)
  for (const worker of workers) worker.kill('SIGTERM')
  return compare(await openStore(alone), await openStore('s3://fleet/store', access))
}

async function startServer(name: string, [packages = '']: string[], more: string[] = []): Promise<string> {
  const script = join(ROOT, `deploy/servers/${name}-server.sh`)
  const args = [join(ROOT, '.servers', packages), join(folder, name), String(await freePort()), ...more]
  const server = await startLocalServer(script, args)
  endings.push(server.stop)
  return server.url
}

function start(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(process.execPath, [join(ROOT, 'cli/highwater.ts'), ...args], {
    env: { PATH: process.env.PATH, DATA_FOLDER: folder, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  endings.push(async () => child.kill('SIGKILL'))
  return child
}

async function ended(what: string, child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  if (child.exitCode !== 0) throw new Error(`${what} failed: its reason is above`)
}

/** Kills the worker that was the first to finish a strategy: it has begun others. */
async function killFirst(
  privateStore: ObjectStore,
  workers: readonly ChildProcess[],
  coordinator: ChildProcess,
) {
  while (coordinator.exitCode === null && coordinator.signalCode === null) {
    const [id] = await listDone(privateStore, RUN, 'render')
    if (id !== undefined) {
      const { worker } = await readResult(privateStore, RUN, 'render', id)
      workers.find(({ pid }) => worker.endsWith(`:${pid}`))?.kill('SIGKILL')
      console.log(
        `killed the worker ${worker}, which had rendered ${id}: another one takes its strategies in 15 s`,
      )
      return
    }
    await pause(LOOK_MS)
  }
}

async function compare(alone: ObjectStore, fleet: ObjectStore): Promise<number> {
  const [expected, got] = [await digestsOf(alone), await digestsOf(fleet)]
  const keys = [...new Set([...expected.keys(), ...got.keys()])]
  const other = keys.filter(key => expected.get(key) !== got.get(key))
  if (other.length > 0)
    throw new Error(`${other.length} of ${keys.length} files differ: ${other.slice(0, 3).join(', ')}`)
  console.log(`${keys.length} files of ${SAMPLE_VERSION} are equal on the fleet and on one machine`)
  return 0
}

async function digestsOf(store: ObjectStore): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>()
  for (const key of await store.list(`${versionFolder(SAMPLE_VERSION)}/`)) {
    digests.set(key, sha256((await store.read(key))!))
  }
  return digests
}
