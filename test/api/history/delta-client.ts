// A client that keeps answers, against a tier on a book of four nights.
import { createHash } from 'node:crypto'
import { pinnedPath } from '#core/contract/pins.ts'
import { openFourNights, versionOfNight } from '../../support/books/growing-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import type { App } from './answers.ts'

export const CSV = '/v1/export?format=csv'

/** The tier, its stores, and what it was told to complain of. */
export async function openNights() {
  const stores = await openFourNights()
  const { app, damages } = await createTestApp(stores.store, stores.privateStore)
  const bodyOf = async (night: number, address: string): Promise<Buffer> =>
    (await ask(app, pinnedPath(versionOfNight(night), address))).bytes
  return { app, stores, damages, bodyOf }
}

export type Nights = Awaited<ReturnType<typeof openNights>>

export async function ask(app: App, address: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await app.request(address, { headers, method })
  return { response, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

/** The digest of a body as `Available-Dictionary` has it. */
export const digestOf = (bytes: Uint8Array): string =>
  `:${createHash('sha256').update(bytes).digest().toString('base64')}:`

/** What a client says that has kept a body. */
export const holding = (bytes: Uint8Array): Record<string, string> => ({
  'accept-encoding': 'gzip, br, dcz',
  'available-dictionary': digestOf(bytes),
})

export const codingOf = (headers: Headers): string => headers.get('content-encoding') ?? 'identity'
