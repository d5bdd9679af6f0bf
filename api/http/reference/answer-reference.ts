import type { Context, Env } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import { type CodedBytes, createCodedBytes } from '../coded-bytes.ts'
import { matchesEtag } from '../etag.ts'
import { madeOnce } from '../made-once.ts'
import { CACHING } from '../shared-headers.ts'
import { readReferenceFiles } from './reference-files.ts'
import { REFERENCE_POLICY, type ReferencePage, referencePage } from './reference-page.ts'

/** The paths that the reference answers: the page, and the files that it loads. */
export const REFERENCE_PATTERNS = ['/docs', '/docs/:folder/:file'] as const

/** Answers a request below `/docs` with what never depends on who asks, under the headers that the service always sends. */
export type Reference = <E extends Env>(
  c: Context<E>,
  headers: Readonly<Record<string, string>>,
) => Promise<Response>

/** The API reference of a service. Its files are read at the first request, so that nobody waits for them at the start. */
export function createReference(page: ReferencePage): Reference {
  const prepared = madeOnce(() => prepare(page))
  return async (c, headers) => {
    const part = (await prepared()).get(c.req.path)
    if (part === undefined) throw new ApiError('not_found', 'no such file; /docs names those that there are')
    return answer(c, part, headers)
  }
}

/** The page, or one of its files. */
type Part = { readonly coded: CodedBytes; readonly headers: Readonly<Record<string, string>> }

async function prepare(page: ReferencePage): Promise<ReadonlyMap<string, Part>> {
  const { folder, files } = await readReferenceFiles()
  const html = new TextEncoder().encode(referencePage(page, folder))
  return new Map<string, Part>([
    ['/docs', { coded: createCodedBytes(html, 'text/html; charset=utf-8'), headers: PAGE_HEADERS }],
    ...files.map(
      ({ name, bytes, mediaType }) =>
        [`${folder}/${name}`, { coded: createCodedBytes(bytes, mediaType), headers: FILE_HEADERS }] as const,
    ),
  ])
}

const PAGE_HEADERS = { 'cache-control': CACHING.dataset, 'content-security-policy': REFERENCE_POLICY }
const FILE_HEADERS = { 'cache-control': CACHING.pinned }

async function answer<E extends Env>(
  c: Context<E>,
  part: Part,
  ofService: Readonly<Record<string, string>>,
): Promise<Response> {
  const { bytes, etag, headers } = await part.coded(c.req.header('accept-encoding'))
  const common = { ...ofService, ...part.headers }
  if (matchesEtag(c.req.header('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers: { ...common, etag } })
  }
  return new Response(bytes, { headers: { ...common, ...headers } })
}
