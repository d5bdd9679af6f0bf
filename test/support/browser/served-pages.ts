// A signed version of a hand-made book with its pages, served for a browser.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startServer } from '#api/http/http-server.ts'
import { toCompactInstant } from '#core/calendar.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import { openStore } from '#storage/open-store.ts'
import { orderOf, renderHere } from '#test/static-build/hand-order.ts'
import { newSigner } from '#test/static-build/signed-store.ts'
import { handSnapshot } from '../books/hand-snapshot.ts'
import { openHistoryApp } from '../history/history-app.ts'

const wave = (length: number, phase: number, size = 0.02): number[] =>
  Array.from({ length }, (_, i) =>
    Number((size * (0.06 + Math.sin(i * 1.7 + phase) * Math.cos(i / 40 + phase))).toPrecision(10)),
  )

/** Four histories: a long one with trades and its instrument, one at another base risk, one that is ruined, one of a day. */
export const PAGES_BOOK: Snapshot = handSnapshot(
  [
    {
      ...{
        id: 'birch',
        name: 'Birch',
        first: '2021-01-01',
        returns: wave(1300, 0),
        verification_state: 'dual_verified',
      },
      trades: [1, 2, 3].map(i => ({
        entry_time: i * 1e7,
        exit_time: i * 1e7 + 9e6,
        account_return: i === 2 ? -0.01 : 0.02,
      })),
    },
    {
      id: 'hazel',
      name: '<b>Hazel</b> & "co"',
      first: '2022-03-02',
      returns: wave(800, 2, 0.01),
      base_risk_pct: 0.01,
    },
    { id: 'stump', name: 'Stump', first: '2023-03-02', returns: [0.1, -1, ...wave(40, 1)] },
    { id: 'twig', name: 'Twig', first: '2024-05-01', returns: [0.01] },
  ],
  { name: 'Pages', max_modelled_risk_pct: 0.5 },
  [
    {
      instrument: 'BTCUSDT-PERP',
      daily: { period: 'daily', first: 18628, values: Float64Array.from(wave(1300, 4, 0.03)) },
    },
  ],
)

/** The folder of the version in an address. */
export const PAGES_ROOT = `/v1/snapshots/${toCompactInstant(PAGES_BOOK.dataset.version)}/`

export async function servePages() {
  const folder = await mkdtemp(join(tmpdir(), 'highwater-pages-'))
  const url = pathToFileURL(join(folder, 'store')).href
  const stores = { url, privateUrl: `${url}.private` }
  const signer = newSigner()
  const opened = { store: await openStore(stores.url), privateStore: await openStore(stores.privateUrl) }
  const { version } = PAGES_BOOK.dataset
  await publishVersion({ ...orderOf(version, opened), snapshot: PAGES_BOOK, signer, render: renderHere })
  const { app } = await openHistoryApp(stores)
  const server = await startServer(() => request => app.fetch(request), '127.0.0.1', 0)
  return {
    url: server.url,
    signer,
    close: async () => {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
