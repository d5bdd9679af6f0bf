import pMap from 'p-map'
import { manifestKey, POLLED, versionFolder } from '#core/contract/artifacts.ts'
import {
  CURRENT_KEY,
  type CurrentHint,
  currentHint,
  POINTER_PREFIX,
  type PointerEntry,
  pointerEntry,
  pointerKey,
  seqOfKey,
  signatureKey,
} from '#core/contract/pointer.ts'
import { enteredOf } from '#core/dataset/entered.ts'
import { sha256 } from './digest.ts'
import { tolerate } from './error-code.ts'
import { parseJson, readDocument, toJsonBytes } from './json-bytes.ts'
import { IMMUTABLE_BYTES, IMMUTABLE_JSON, isAbsent, type ObjectStore, writeOnce } from './object-store.ts'
import { publishKey, type Signer } from './signature.ts'

export type LoggedEntry = { readonly entry: PointerEntry; readonly sha256: string }

/** What the next entry says; its place in the chain follows from the log. */
export type NextEntry = Omit<PointerEntry, 'seq' | 'prev_entry_sha256'>

/** The newest entry, or null. The hint says where to begin to look, so one that is late, lost or damaged only costs requests. */
export async function readHead(store: ObjectStore): Promise<LoggedEntry | null> {
  let head = await readFirst(store)
  while (head !== null) {
    const next = await readEntry(store, head.entry.seq + 1)
    if (next === null) return head
    head = next
  }
  return null
}

async function readFirst(store: ObjectStore): Promise<LoggedEntry | null> {
  const hint = await readDocument(store, CURRENT_KEY, currentHint)
  const entry = hint && (await readEntry(store, hint.seq))
  if (entry) return entry
  const newest = (await listSeqs(store)).at(-1)
  return newest === undefined ? null : readEntry(store, newest)
}

/** Requests at a time: a log of years takes a second from a far store, and the manifests of three years half a second. */
const AT_ONCE = { concurrency: 32 }

/** The whole log, oldest first. Throws if it has a gap, or an entry that does not continue the one before. */
export async function readLog(store: ObjectStore): Promise<readonly LoggedEntry[]> {
  const found = await pMap(await listSeqs(store), seq => readEntry(store, seq), AT_ONCE)
  const log = found.filter(logged => logged !== null)
  const broken = log.findIndex(
    ({ entry }, i) =>
      entry.seq !== i + 1 || entry.prev_entry_sha256 !== (i === 0 ? null : log[i - 1]!.sha256),
  )
  if (broken === -1) return log
  throw new Error(
    `the pointer log of ${store.url} is broken at entry ${broken + 1}: it was altered, or an object is lost; ` +
      'restore v1/pointer/ from a copy',
  )
}

/** The numbers of the entries of a log, which ascend. */
export async function listSeqs(store: ObjectStore): Promise<readonly number[]> {
  return (await store.list(POINTER_PREFIX)).flatMap(key => seqOfKey(key) ?? [])
}

async function readEntry(store: ObjectStore, seq: number): Promise<LoggedEntry | null> {
  const key = pointerKey(seq)
  const bytes = await store.read(key)
  if (bytes === null) return null
  const parsed = pointerEntry.safeParse(parseJson(bytes))
  if (parsed.success && parsed.data.seq === seq) return { entry: parsed.data, sha256: sha256(bytes) }
  throw new Error(`${store.url}/${key} is not a pointer entry: restore it from a copy`)
}

/** Appends an entry after `head`, just read, and the hint. Its creation publishes; it throws if another process appended one first. */
export async function appendEntry(
  store: ObjectStore,
  head: LoggedEntry | null,
  next: NextEntry,
  signer: Signer | null,
): Promise<LoggedEntry> {
  const entry: PointerEntry = {
    seq: (head?.entry.seq ?? 0) + 1,
    ...next,
    prev_entry_sha256: head?.sha256 ?? null,
  }
  assertAfter(store, head, entry.at)
  const bytes = toJsonBytes(entry)
  const logged = { entry, sha256: sha256(bytes) }
  // Before the entry itself: so every entry is signed, and its key is published.
  if (signer !== null) {
    await publishKey(store, signer)
    await writeOnce(store, signatureKey(logged.sha256), signer.sign(bytes), IMMUTABLE_BYTES)
  }
  if (!(await store.create(pointerKey(entry.seq), bytes, IMMUTABLE_JSON))) {
    const winner = (await readEntry(store, entry.seq))?.entry
    const what = winner && `: entry ${winner.seq} (${winner.action} ${winner.version})`
    throw new Error(
      `another publisher of ${store.url} was faster${what ?? ''}; this version is not served: run the command again`,
    )
  }
  await tolerate(deriveHint(store, entry), 'the entry stands, and readers look for it')
  return logged
}

/** Refuses a clock behind the newest entry: times in the log never decrease, and an earlier one would expire too early. */
export function assertAfter(store: ObjectStore, head: LoggedEntry | null, now: string): void {
  if (head === null || now >= head.entry.at) return
  const { seq, at } = head.entry
  throw new Error(
    `the clock of this machine is at ${now}, and the newest pointer entry, ${store.url}/${pointerKey(seq)}, is ` +
      `from ${at}: nothing was published; set the clock, and run the command again`,
  )
}

/** Writes the hint of an entry, and the first page of a store without a service. Any process may repeat it at any time. */
export async function deriveHint(store: ObjectStore, entry: PointerEntry): Promise<void> {
  await store.replace(CURRENT_KEY, hintOf(entry), { ...IMMUTABLE_JSON, cache_control: POLLED })
  await store.replace(INDEX_KEY, new TextEncoder().encode(leadTo(entry.version)), {
    content_type: 'text/html; charset=utf-8',
    cache_control: POLLED,
  })
}

export const hintOf = ({ seq, version, manifest_sha256 }: PointerEntry): Uint8Array =>
  toJsonBytes({ seq, version, manifest_sha256 } satisfies CurrentHint)

/** What a file server answers at the root of a copy of the store. */
export const INDEX_KEY = 'index.html'

export function leadTo(version: string): string {
  const page = `${versionFolder(version)}/index.html`
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${version}</title><meta http-equiv="refresh" content="0; url=${page}"><a href="${page}">Version ${version}</a></html>\n`
}

export type Publication = Readonly<ReturnType<typeof publicationsOf>[number]>

/** The versions that a log names, newest first. */
export function publicationsOf(log: readonly LoggedEntry[]) {
  const served = log.at(-1)?.entry.version
  const firstAt = firstTimes(log)
  return firstPublications(log)
    .map(({ entry }) => ({
      version: entry.version,
      /** When it was first pointed to, and never before an earlier entry: a clock that was set back dates nothing back. */
      published: firstAt.get(entry.version)!, // of the same log
      /** The same if its name is more than 36 hours older; null where the name is the truth. */
      entered: enteredOf({ version: entry.version, entered: null }, firstAt.get(entry.version)!),
      manifest_sha256: entry.manifest_sha256,
      /** Whether the newest entry names it. */
      is_served: entry.version === served,
      history_restated: entry.history_restated,
    }))
    .sort((a, b) => (a.version < b.version ? 1 : -1))
}

/** When a log first named each version. An entry that is dated before an earlier one counts as of the time of that one. */
export function firstTimes(log: readonly LoggedEntry[]): ReadonlyMap<string, string> {
  const times = new Map<string, string>()
  let latest = ''
  for (const { entry } of log) {
    if (entry.at > latest) latest = entry.at
    if (!times.has(entry.version)) times.set(entry.version, latest)
  }
  return times
}

/** The entry that first published each version, oldest first. */
export const firstPublications = (log: readonly LoggedEntry[]): readonly LoggedEntry[] => {
  const versions = new Set<string>()
  return log.filter(({ entry }) => versions.size < versions.add(entry.version).size)
}

/** The version that was served at an instant (ISO), or null before the first. */
export function servedAt(log: readonly LoggedEntry[], instant: string): string | null {
  const later = log.findIndex(({ entry }) => entry.at > instant)
  return log.slice(0, later === -1 ? undefined : later).at(-1)?.entry.version ?? null
}

export type ListedPublication = Awaited<ReturnType<typeof markRemoved>>[number]

/** Looks for the manifest of each version. If the store does not answer, none counts as removed. */
export const markRemoved = (store: ObjectStore, publications: readonly Publication[]) =>
  pMap(
    publications,
    async publication => ({
      ...publication,
      /** Whether its manifest, which `highwater prune` removes first, is missing; false for the served one. */
      is_removed: !publication.is_served && (await isAbsent(store, manifestKey(publication.version))),
    }),
    AT_ONCE,
  )
