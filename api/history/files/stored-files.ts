import { LRUCache } from 'lru-cache'
import { manifestKey } from '#core/contract/artifacts.ts'
import { ApiError } from '#core/contract/errors.ts'
import {
  FILE_ROUTES,
  FILE_VARIABLES,
  type FileRoute,
  type FileVariable,
  KEYS_KEY,
  publicKeys,
} from '#core/contract/file-routes.ts'
import { pointerKey } from '#core/contract/pointer.ts'
import { sha256 } from '#storage/digest.ts'
import { readDocument } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { findManifest, UnreadableError } from '#storage/published-files.ts'
import { readOriginKeys } from '#storage/seals/chain.ts'
import { dateOf, parseSeal, sealCheck, splitSeals } from '#storage/seals/seal.ts'
import { isSignedBy } from '#storage/signature.ts'
import { type ReadyAnswer, toReadyAnswer, unencodedDigest } from '../../service/content-coding.ts'
import type { Exchange } from '../../service/exchange.ts'
import { CACHING } from '../../service/headers.ts'
import { type Handler, type HistoryParts, sendReady } from '../exchange.ts'
import { findPublication, type History, versionInPath } from '../versions/history.ts'
import { goneError } from '../versions/pinned-versions.ts'

/** Memory for objects that never change; the manifest of a book of a thousand strategies takes half of it. */
export const CACHE_BYTES = 16 << 20

/** The largest object that is kept; a larger one is read at every request. */
export const LARGEST_KEPT_BYTES = CACHE_BYTES / 2

export function createStoredFiles(store: ObjectStore, history: () => History | null): HistoryParts['files'] {
  const cache = new LRUCache<string, ReadyAnswer>({
    maxSize: CACHE_BYTES,
    maxEntrySize: LARGEST_KEPT_BYTES,
    sizeCalculation: answer => answer.bytes.length + 1, // a size of 0 is none
  })
  /** Whether an object is what the log says was published: only then it is immutable. Null if nothing says so, or it may change. */
  const isAsPublished = async ({ proof }: FileRoute, variable: string, bytes: Uint8Array) => {
    const known = history()
    if (proof === 'seals') return areSeals(store, variable, bytes)
    if (proof === null || known === null) return null
    if (proof === 'entry') {
      const logged = known.log[Number(variable) - 1] // one that was appended a moment ago is not known yet
      return logged === undefined ? null : sha256(bytes) === logged.sha256
    }
    if (proof === 'signature of entry') {
      const signed = known.log.find(entry => entry.sha256 === variable)
      return signed === undefined ? null : isSignature(store, pointerKey(signed.entry.seq), bytes)
    }
    const publication = findPublication(known, variable)
    if (proof === 'manifest') return sha256(bytes) === publication.manifest_sha256
    if (proof === 'signature of manifest') return isSignature(store, manifestKey(publication.version), bytes)
    const found = await findManifest(store, publication)
    return found.fault === null && found.manifest.documents[proof] === sha256(bytes)
  }
  return {
    async read(file, variable) {
      const key = file.handler(variable)
      const cached = cache.get(key)
      if (cached !== undefined) return { answer: cached, isProven: true }
      const bytes = await store.read(key)
      if (bytes === null) return null
      const isProven = await isAsPublished(file, variable, bytes)
      // Caches would keep it for a year.
      if (isProven === false)
        throw new UnreadableError(`${store.url}/${key} is not what was published: restore it from a copy`)
      const digest = sha256(bytes)
      const headers = { 'content-type': file.mediaType, 'unencoded-digest': unencodedDigest(digest) }
      const answer = toReadyAnswer(Uint8Array.from(bytes), 'identity', `"${digest.slice(0, 32)}"`, headers)
      if (isProven) cache.set(key, answer)
      return { answer, isProven: isProven ?? false }
    },
  }
}

/** Whether these are seals with this number or of this day, each signed by the key of its origin. */
async function areSeals(store: ObjectStore, variable: string, bytes: Uint8Array): Promise<boolean> {
  const parts = splitSeals(bytes)
  const own = parts.flatMap(each => {
    const seal = parseSeal(each)
    const isOwn = seal !== null && (seal.n === Number(variable) || dateOf(seal) === variable)
    return isOwn ? [{ seal, bytes: each }] : []
  })
  if (own.length < parts.length) return false
  const keys = await readOriginKeys(key => store.read(key), own)
  const checks = new Map([...keys].map(([origin, pem]) => [origin, sealCheck(pem)]))
  return own.every(({ seal, bytes }) => checks.get(seal.origin)?.(bytes) === true)
}

async function isSignature(store: ObjectStore, key: string, signature: Uint8Array): Promise<boolean> {
  const [signed, known] = [await store.read(key), await readDocument(store, KEYS_KEY, publicKeys)]
  if (signed === null || !known) return false
  return known.keys.some(({ public_key_pem }) => isSignedBy(public_key_pem, signed, signature))
}

/** Answers an object that belongs to a version, or to the service as a whole, or 404. */
export const createFileHandler =
  (file: FileRoute): Handler =>
  async (c, parts) => {
    if (file.of !== 'version') return sendFile(c, parts, file, '')
    const history = parts.source.history()
    const { version } = findPublication(history, versionInPath(history, c.req.param('version') ?? ''))
    const stored = await readFile(c, parts, file, version)
    if (stored !== null) return sendReady(c, stored.answer, CACHING.pinned)
    // A version that was removed has lost its manifest first; one that has it never had this file.
    if ((await readFile(c, parts, MANIFEST, version)) === null) throw goneError(version)
    throw new ApiError('not_found', `the version ${version} was published without: ${file.title}`)
  }

/** Answers an object of the pointer log or of the chain of seals, or 404. */
export function createFamilyHandler(family: 'log' | 'seals'): Handler {
  const files = FILE_ROUTES.filter(({ of }) => of === family).map(file => ({ file, pattern: toRegExp(file) }))
  return async (c, parts) => {
    for (const { file, pattern } of files) {
      const found = pattern.exec(c.req.path)
      if (found !== null) return sendFile(c, parts, file, found[1] ?? '')
    }
    if (family === 'seals') throw new ApiError('not_found', 'seals have nine digits, days are YYYY-MM-DD')
    const known = newestEntry(parts)
    throw new ApiError('not_found', `entries have ten digits, signatures the 64 of a SHA-256${known}`)
  }
}

/** `/v1/pointer/{seq}.json` as the expression that captures its number. */
function toRegExp({ path }: FileRoute): RegExp {
  const escaped = path.replaceAll('.', '\\.')
  const capture = (name: FileVariable): string => `(${FILE_VARIABLES[name].pattern.source.slice(1, -1)})` // without ^ and $
  return new RegExp(`^${escaped.replace(/\{(\w+)\}/, (_, name: FileVariable) => capture(name))}$`)
}

async function sendFile(c: Exchange, parts: HistoryParts, file: FileRoute, variable: string) {
  const stored = await readFile(c, parts, file, variable)
  if (stored === null) {
    const opened = file.id === 'seal_opening' ? '; a day is opened when its embargo is over' : ''
    const known = file.of === 'log' ? newestEntry(parts) : opened
    throw new ApiError('not_found', `there is no such object: ${file.title}${known}`)
  }
  const caching = file.id === 'seal_head' ? CACHING.head : CACHING.pointer
  return sendReady(c, stored.answer, stored.isProven ? CACHING.pinned : caching)
}

/** The newest entry that this process knows; the next one may be there already. */
function newestEntry({ source }: HistoryParts): string {
  const newest = source.history()?.log.at(-1)
  return newest === undefined ? '; no entry is known' : `; the newest known entry is ${newest.entry.seq}`
}

const MANIFEST = FILE_ROUTES.find(({ id }) => id === 'manifest')!

async function readFile(c: Exchange, parts: HistoryParts, file: FileRoute, variable: string) {
  const stored = await parts.files.read(file, variable)
  if (stored !== null) c.set('kind', 'static')
  return stored
}
