// Clients of nginx that check every answer against the version that its own headers name.
import { setTimeout as after } from 'node:timers/promises'
import { toCompactInstant } from '#core/calendar.ts'
import { manifestKey, TWIN_ENDINGS, type TwinCoding } from '#core/contract/artifacts.ts'
import { type Artifact, manifest } from '#core/contract/manifest.ts'
import { parseCompactInstant, pinnedPath, unpinnedPath } from '#core/contract/pins.ts'
import { sha256 } from '#storage/digest.ts'
import { fileEtag } from '#storage/file-time.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { ask, type Got } from '../servers/cdn.ts'
import { bytesOf } from '../stores/stored-bytes.ts'

type Artifacts = ReadonlyMap<string, Artifact>

const CODINGS = ['identity', 'br', 'gzip'] as const

/** What is read: nginx's address, and the store that it serves, which has these versions. */
export type Read = { readonly url: string; readonly store: ObjectStore; readonly versions: readonly string[] }

/**
 * Runs something while so many readers request canonical addresses without a pause. Returns how many answers there were of
 * each version; throws at the first answer that is not of one version.
 */
export async function whileReadingNginx(
  { url, store, versions }: Read,
  readers: number,
  run: () => Promise<void>,
): Promise<ReadonlyMap<string, number>> {
  const published = new Map<string, Artifacts>()
  for (const version of versions) {
    const { artifacts } = manifest.parse(JSON.parse((await bytesOf(store, manifestKey(version))).toString()))
    published.set(version, new Map(artifacts.map(artifact => [artifact.url, artifact])))
  }
  const addresses = [...published.get(versions[0]!)!.keys()]
  const seen = new Map<string, number>()
  let isOver = false
  const read = async (i: number): Promise<void> => {
    const address = addresses[i % addresses.length]!
    const coding = CODINGS[i % CODINGS.length]!
    const isFile = /\.(html|js|css)$/.test(address) // its own address leads to the version
    const asked = i % 4 === 0 || isFile ? pinnedPath(versions[i % versions.length]!, address) : address
    const version = check(asked, coding, await ask(url + asked, { 'accept-encoding': coding }), published)
    if (asked === address) seen.set(version, (seen.get(version) ?? 0) + 1)
  }
  const reading = Promise.all(
    Array.from({ length: readers }, async (_, reader) => {
      for (let i = reader; !isOver; i += readers) {
        await read(i)
        if (i % 100 < readers) await after(1) // so that what else the process does gets its turn
      }
    }),
  )
  try {
    await Promise.race([run(), reading])
  } finally {
    isOver = true
  }
  await reading
  return seen
}

/** The version that the headers of an answer name; throws if anything in it belongs to another one. */
function check(
  asked: string,
  coding: (typeof CODINGS)[number],
  { status, headers, bytes }: Got,
  published: ReadonlyMap<string, Artifacts>,
): string {
  const twin = unpinnedPath(asked) === null ? String(headers['content-location']) : asked
  const version = parseCompactInstant(twin.split('/')[3] ?? '') ?? ''
  const artifact = published.get(version)?.get(unpinnedPath(twin) ?? '')
  const isPinned = twin === asked
  const problems = [
    ...(status === 200 ? [] : [`status ${status}`]),
    ...(artifact === undefined ? [`no file for ${twin}`] : differences(artifact, coding, { headers, bytes })),
    ...(isPinned || headers['cache-tag'] === `v-${toCompactInstant(version)}` ? [] : ['tag']),
    ...((headers['x-dataset-version'] ?? version) === version ? [] : ['X-Dataset-Version']),
  ]
  if (problems.length > 0) throw new Error(`${asked} as ${coding} of ${twin}: ${problems.join(', ')}`)
  return version
}

function differences(
  artifact: Artifact,
  coding: TwinCoding | 'identity',
  { headers, bytes }: Pick<Got, 'headers' | 'bytes'>,
): string[] {
  const twin = coding === 'identity' ? undefined : artifact.encodings[coding]
  const key = twin === undefined || coding === 'identity' ? artifact.key : artifact.key + TWIN_ENDINGS[coding]
  const { bytes: length, sha256: digest } = twin ?? artifact
  return [
    ...(sha256(bytes) === digest ? [] : ['body']),
    ...(headers.etag === fileEtag(key, length) ? [] : ['ETag']),
    ...(headers['content-length'] === String(length) ? [] : ['Content-Length']),
    ...(headers['content-encoding'] === (twin === undefined ? undefined : coding) ? [] : ['coding']),
  ]
}
