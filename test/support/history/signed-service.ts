// Signed versions on disk, served over HTTP: what a subscriber meets.
import { afterEach, beforeAll } from 'vitest'
import { toIsoInstant } from '#core/calendar.ts'
import { enteredOf } from '#core/dataset/entered.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import { openStore } from '#storage/open-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import type { Signer } from '#storage/signature.ts'
import { BEFORE, orderOf, renderHere } from '#test/static-build/hand-order.ts'
import { HAND_VERSION } from '../books/hand-snapshot.ts'
import type { Stores } from '../books/publish-book.ts'
import { start } from '../http/raw-server.ts'
import { startTamperingProxy, type TamperingProxy } from '../servers/tampering-proxy.ts'
import { newStores } from '../stores/stores.ts'
import { openHistoryApp } from './history-app.ts'

/** Publishes two versions for the rest of the file, one night after the other; `now` is when, for both entries. */
export async function publishSigned(signer: Signer | null, now: () => number): Promise<Stores> {
  const stores = await newStores()
  const store = await openStore(stores.url)
  const privateStore = await openStore(stores.privateUrl)
  for (const version of [BEFORE, HAND_VERSION]) {
    const entered = enteredOf({ version, entered: null }, toIsoInstant(now()))
    const order = { ...orderOf(version, { store, privateStore }), entered, now, signer, render: renderHere }
    await publishVersion(order)
  }
  return stores
}

/** The address of a service of these stores, which ends with the running test, or with the file if no test runs. */
export async function serveStores(stores: Stores): Promise<string> {
  const { app } = await openHistoryApp(stores)
  return (await start(app.fetch)).url
}

/** Stores that live as long as their tests, and a proxy before a service of the signed versions in them. */
export type SignedService = {
  readonly stores: Stores
  readonly proxy: TamperingProxy
  /** The digest of the newest entry. */
  readonly headDigest: string
}

/** Starts a signed service before the tests of a file and ends it after them; each test begins without tampering. */
export function withSignedService(signer: Signer, now: () => number): () => SignedService {
  let started: SignedService
  beforeAll(async () => {
    const stores = await publishSigned(signer, now)
    const headDigest = (await readLog(await openStore(stores.url))).at(-1)!.sha256
    started = { stores, proxy: await startTamperingProxy(await serveStores(stores)), headDigest }
  })
  afterEach(() => started.proxy.tamper(() => null))
  return () => started
}
