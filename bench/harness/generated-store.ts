// A published version of generated strategies: all that a tier loads. The files of its answers are left out, because no
// tier reads them before it is asked, and rendering those of a thousand strategies takes minutes.
import { pathToFileURL } from 'node:url'
import { artifactKey } from '#core/contract/artifacts.ts'
import { type Artifact, MANIFEST_VERSION, type Manifest } from '#core/contract/manifest.ts'
import { RENDER_REVISION } from '#core/dataset/resources/render-answer.ts'
import { canonicalPath, canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { SNAPSHOT_FORMAT, type Snapshot } from '#core/dataset/snapshot.ts'
import { encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { saveSnapshot } from '#static-build/save-private.ts'
import { openStore } from '#storage/open-store.ts'
import { type HandTrade, handSnapshot } from '#test/support/books/hand-snapshot.ts'
import { replaceManifest } from '#test/support/books/publish-in-memory.ts'
import type { PublishedStore } from './ground.ts'

const DAY_MS = 86_400_000
const FIRST_DAY = '2016-01-01'
const DAYS_A_TRADE = 10

/** The name of a generated strategy. */
export const generatedId = (i: number): string => `s${String(i).padStart(4, '0')}`

/** A dataset of strategies by chance over so many days, all over one window, with a trade every ten days. */
export function generateSnapshot(strategies: number, days: number, version: string): Snapshot {
  const random = createRandom(1)
  const ids = Array.from({ length: strategies }, (_, i) => generatedId(i))
  const all = ids.map(id => ({
    id,
    first: FIRST_DAY,
    returns: Float64Array.from({ length: days }, () => 0.01 * random.normal()),
    trades: generateTrades(days, random),
  }))
  return handSnapshot(all, { version })
}

function generateTrades(days: number, random: ReturnType<typeof createRandom>): HandTrade[] {
  const firstMs = Date.parse(FIRST_DAY)
  return Array.from({ length: Math.floor(days / DAYS_A_TRADE) }, (_, i) => ({
    entry_time: firstMs + i * DAYS_A_TRADE * DAY_MS,
    exit_time: firstMs + (i * DAYS_A_TRADE + 5) * DAY_MS,
    account_return: 0.02 * random.normal(),
  }))
}

/** Publishes a dataset without its files, after what the folder holds already. */
export async function publishWithoutFiles(folder: string, snapshot: Snapshot): Promise<PublishedStore> {
  const { href: url } = pathToFileURL(folder)
  const [store, privateStore] = [await openStore(url), await openStore(`${url}.private`)]
  const { version, window } = snapshot.dataset
  const strategies = snapshot.strategies.map(({ id }) => id)
  const manifest: Manifest = {
    ...{
      manifest_version: MANIFEST_VERSION,
      entered: null,
      time_stamps: {},
      render_revision: RENDER_REVISION,
      snapshot_format: SNAPSHOT_FORMAT,
    },
    ...{ version, strategies, window, previous: null, history_restated: false, documents: {} },
    built_with: { highwater: 'bench', node: process.version, commit: null, lockfile_sha256: null },
    ...{ inputs_sha256: null, program_sha256: null },
    snapshot: await saveSnapshot(privateStore, version, encodeSnapshot(snapshot)),
    artifacts: describeArtifacts(version, strategies),
  }
  await replaceManifest(store, version, manifest)
  return { folder, url, version }
}

/** The lines of a manifest, as long as true ones. */
function describeArtifacts(version: string, ids: readonly string[]): Artifact[] {
  const file = { bytes: 100_000, sha256: '0'.repeat(64) }
  return DATASET_ROUTES.flatMap(route =>
    canonicalPoints(route, ids).map(params => ({
      url: canonicalPath(route.id, params),
      key: artifactKey(version, route, params),
      ...{ media_type: 'application/json; charset=utf-8', headers: {}, ...file },
      ...{ rows: null, first: null, last: null, encodings: { br: file, gzip: file } },
    })),
  )
}
