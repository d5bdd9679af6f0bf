import { ApiError } from '#core/contract/errors.ts'
import { FILE_ROUTES, FILE_VARIABLES, type FileRoute, type FileVariable } from '#core/contract/file-routes.ts'
import { StoreError } from '#storage/object-store.ts'
import { CACHING } from '../http/shared-headers.ts'
import {
  type Exchange,
  type Handler,
  type HistoryParts,
  pinnedHeaders,
  requestIdOf,
  sendReady,
} from './exchange.ts'
import { findPublication, versionInPath } from './history.ts'
import { goneError } from './pinned-versions.ts'
import { DamagedFileError, type StoredFile } from './stored-files.ts'

/** Answers an object that belongs to a version, or to the service as a whole: 404 where there is none. */
export const createFileHandler =
  (file: FileRoute): Handler =>
  async (c, parts) => {
    if (file.of !== 'version') return sendFile(c, parts, file, await readFile(c, parts, file, ''))
    const history = parts.source.history()
    const { version } = findPublication(history, versionInPath(history, c.req.param('version') ?? ''))
    const stored = await readFile(c, parts, file, version)
    if (stored === null) throw await missing(c, parts, file, version)
    return sendReady(c, parts, stored.answer, CACHING.pinned, pinnedHeaders(version, stored.answer))
  }

/** Answers an entry of the pointer log, or the signature of one: 404 where there is none. */
export function createLogHandler(): Handler {
  const files = FILE_ROUTES.filter(({ of }) => of === 'log').map(file => ({ file, pattern: toRegExp(file) }))
  return async (c, parts) => {
    for (const { file, pattern } of files) {
      const [, variable] = pattern.exec(c.req.path) ?? []
      if (variable !== undefined) return sendFile(c, parts, file, await readFile(c, parts, file, variable))
    }
    const known = newestEntry(parts)
    throw new ApiError('not_found', `entries have ten digits, signatures the 64 of a SHA-256${known}`)
  }
}

/** `/v1/pointer/{seq}.json` as the expression that captures its number. */
function toRegExp({ path }: FileRoute): RegExp {
  const escaped = path.replaceAll('.', '\\.')
  const capture = (name: FileVariable): string => `(${FILE_VARIABLES[name].source.slice(1, -1)})` // without ^ and $
  return new RegExp(`^${escaped.replace(/\{(\w+)\}/, (_, name: FileVariable) => capture(name))}$`)
}

function sendFile(c: Exchange, parts: HistoryParts, file: FileRoute, stored: StoredFile | null): Response {
  if (stored === null) {
    const known = file.of === 'log' ? newestEntry(parts) : ''
    throw new ApiError('not_found', `there is no such object: ${file.title}${known}`)
  }
  return sendReady(c, parts, stored.answer, stored.isProven ? CACHING.pinned : CACHING.pointer)
}

/** The newest entry that this process knows; the next one may be there already. */
function newestEntry({ source }: HistoryParts): string {
  const newest = source.history()?.log.at(-1)
  return newest === undefined ? '; no entry is known' : `; the newest known entry is ${newest.entry.seq}`
}

/** A version that was removed has lost its manifest first; one that has it never had this file. */
async function missing(
  c: Exchange,
  parts: HistoryParts,
  file: FileRoute,
  version: string,
): Promise<ApiError> {
  const manifest = await readFile(c, parts, MANIFEST, version)
  if (manifest === null) return goneError(version)
  return new ApiError('not_found', `the version ${version} was published without: ${file.title}`)
}

const MANIFEST = FILE_ROUTES.find(({ id }) => id === 'manifest')!

async function readFile(
  c: Exchange,
  parts: HistoryParts,
  file: FileRoute,
  variable: string,
): Promise<StoredFile | null> {
  try {
    const stored = await parts.files.read(file, variable)
    if (stored !== null) c.set('kind', 'static')
    return stored
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof DamagedFileError)) throw error
    parts.onError(error, requestIdOf(c, parts))
    throw new ApiError('unavailable', 'the store cannot be read at the moment')
  }
}
