// Signed versions on disk, served by a process of their own: what a subscriber meets.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { publishVersion } from '#static-build/publish-version.ts'
import { openStore } from '#storage/open-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import type { Signer } from '#storage/signature.ts'
import { BEFORE, orderOf, renderHere } from '#test/static-build/hand-order.ts'
import { HAND_VERSION } from '../books/hand-snapshot.ts'
import type { Stores } from '../books/publish-book.ts'
import { startTamperingProxy, type TamperingProxy } from '../servers/tampering-proxy.ts'
import { type ServingProcess, startServing } from './history-process.ts'

/** Publishes two versions below a folder, one night after the other; `now` is when, for both entries. */
export async function publishSigned(
  folder: string,
  signer: Signer | null,
  now: () => number,
): Promise<Stores> {
  const url = pathToFileURL(folder).href
  const stores = { url, privateUrl: `${url}.private` }
  const store = await openStore(stores.url)
  const privateStore = await openStore(stores.privateUrl)
  for (const version of [BEFORE, HAND_VERSION]) {
    await publishVersion({ ...orderOf(version, { store, privateStore }), now, signer, render: renderHere })
  }
  return stores
}

/** A folder that lives as long as its tests, a service of signed versions in it, and a proxy before the service. */
export type SignedService = {
  readonly folder: string
  readonly service: ServingProcess
  readonly proxy: TamperingProxy
  /** The digest of the newest entry. */
  readonly headDigest: string
}

/** Starts a signed service before the tests of a file and ends it after them; each test begins without tampering. */
export function withSignedService(signer: Signer, now: () => number): () => SignedService {
  let started: SignedService
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'highwater-signed-'))
    const stores = await publishSigned(join(folder, 'store'), signer, now)
    const headDigest = (await readLog(await openStore(stores.url))).at(-1)!.sha256
    const service = await startServing(stores)
    started = { folder, service, proxy: await startTamperingProxy(service.url), headDigest }
  })
  afterEach(() => started.proxy.tamper(() => null))
  afterAll(async () => {
    started.proxy.close()
    started.service.kill('SIGTERM')
    await started.service.ended
    await rm(started.folder, { recursive: true, force: true })
  })
  return () => started
}
