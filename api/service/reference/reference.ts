import { ApiError } from '#core/contract/errors.ts'
import type { OpenApi } from '#core/contract/openapi.ts'
import { DOCS_FILES } from '#pages/assets.ts'
import { PAGE_HEADERS, PAGE_TYPE } from '#pages/page-routes.ts'
import { type CodedBytes, createCodedBytes } from '../content-coding.ts'
import { type Exchange, sendCoded } from '../exchange.ts'
import { CACHING } from '../headers.ts'
import { type ReferencePage, referencePage } from './page.ts'

/**
 * The API reference of a service, and what the pages below `/docs` load. The page is rendered at the first request, which
 * keeps the start short, and again if the values of its commands change: those of the version that is served.
 */
export function createReference(
  page: ReferencePage,
  document: () => OpenApi | Promise<OpenApi>,
  valuesOf: (c: Exchange) => Readonly<Record<string, string>> = () => ({}),
): (c: Exchange) => Promise<Response> {
  const files = new Map(
    DOCS_FILES.map(({ path, bytes, mediaType }) => [path as string, createCodedBytes(bytes, mediaType)]),
  )
  let rendered: { readonly of: string; readonly text: Promise<CodedBytes> } | null = null
  const render = async (values: Readonly<Record<string, string>>): Promise<CodedBytes> =>
    createCodedBytes(referencePage(await document(), page, values), PAGE_TYPE)
  return async c => {
    const file = files.get(c.req.path)
    if (file !== undefined) return sendCoded(c, file, { 'cache-control': CACHING.pinned })
    if (c.req.path !== page.path)
      throw new ApiError('not_found', `no such file; ${page.path} names those that there are`)
    const values = valuesOf(c)
    const of = JSON.stringify(values)
    if (rendered?.of !== of) rendered = { of, text: render(values) }
    return sendCoded(c, await rendered.text, { ...PAGE_HEADERS, 'cache-control': CACHING.dataset })
  }
}
