// What nginx in front of a store in a folder includes: the served version, and the disclaimer of each
// version.
import { toCompactInstant } from '#core/calendar.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { isFolder, type ObjectStore } from './object-store.ts'
import { readHead } from './pointer-log.ts'

/** The file that names the latest version: `deploy/nginx/serve.sh` reloads nginx when its content changes. */
export const SERVED_KEY = 'nginx/served.conf'

/** A line of nginx's map from versions to their disclaimers. */
export const disclaimerKey = (version: string): string =>
  `nginx/disclaimers/${toCompactInstant(version)}.conf`

const HEADERS = { content_type: 'text/plain; charset=utf-8' }

/** A version and the headers of its files, as its manifest lists them. */
type Switched = {
  readonly version: string
  readonly artifacts: Iterable<Pick<Manifest['artifacts'][number], 'headers'>>
}

/** Makes nginx serve a version, its disclaimer first: without it nginx passes CSV, Arrow and Parquet on. Nothing for a bucket. */
export async function switchNginx(store: ObjectStore, { version, artifacts }: Switched): Promise<void> {
  if (!isFolder(store)) return
  const disclaimer = disclaimerIn(artifacts)
  if (disclaimer !== null) {
    const line = `${toCompactInstant(version)} '${disclaimer.replaceAll(/[\\']/g, String.raw`\$&`)}';\n`
    await store.create(disclaimerKey(version), encode(line), HEADERS)
  }
  await store.replace(SERVED_KEY, encode(servedLine(version)), HEADERS)
}

/**
 * Switches nginx to the version that the tier serves, if it names another: a publisher may have been killed
 * after the pointer entry and before the switch, and the newest version may be `unfit`. A head that the tier
 * has not looked at yet is left to its publisher, or to the next look.
 */
export async function repairSwitch(store: ObjectStore, served: Switched, unfit: string | null) {
  if (!isFolder(store)) return
  const now = await store.read(SERVED_KEY)
  if (now !== null && new TextDecoder().decode(now) === servedLine(served.version)) return
  const head = (await readHead(store))?.entry.version
  if (head === served.version || head === unfit) await switchNginx(store, served)
}

/** In nginx a version is its compact name. */
export const servedLine = (version: string): string => `set $version ${toCompactInstant(version)};\n`

/** Null if it is missing, or has a dollar sign, which nginx would read as the beginning of a variable. */
function disclaimerIn(artifacts: Switched['artifacts']): string | null {
  const text = [...artifacts].find(({ headers }) => 'x-disclaimer' in headers)?.headers['x-disclaimer']
  return text === undefined || text.includes('$') ? null : text
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
