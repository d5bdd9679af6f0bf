import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { html } from 'hono/html'
import { ApiError } from '#core/contract/errors.ts'
import { sha256 } from '#storage/digest.ts'
import { type AnswerHeaders, type CodedBytes, createCodedBytes } from '../content-coding.ts'
import { type Exchange, sendCoded } from '../exchange.ts'
import { CACHING } from '../headers.ts'

/**
 * The API reference of a service: the page, and the files that it loads (`/docs/{folder}/{file}`). They are read at the
 * first request, which keeps the start short.
 */
export function createReference(page: ReferencePage) {
  let prepared: ReturnType<typeof prepare> | undefined
  return async (c: Exchange): Promise<Response> => {
    prepared ??= prepare(page)
    const part = (await prepared).get(c.req.path)
    if (part === undefined)
      throw new ApiError('not_found', `no such file; ${page.path} names those that there are`)
    return sendCoded(c, part.coded, part.headers)
  }
}

type Part = { readonly coded: CodedBytes; readonly headers: AnswerHeaders }

/**
 * The page and its files by path: those of the package, and those of this room. Their folder is `/docs/0123456789abcdef`:
 * named by the digest of its content, so it never changes.
 */
async function prepare(page: ReferencePage): Promise<ReadonlyMap<string, Part>> {
  const installed = createRequire(import.meta.url)
  const paths = [
    ...PACKAGED.map(name => installed.resolve(`swagger-ui-dist/${name}`)),
    ...OWN.map(name => join(import.meta.dirname, 'browser', name)),
  ]
  const files = await Promise.all(
    paths.map(async path => ({ path, bytes: new Uint8Array(await readFile(path)) })),
  )
  const folder = `/docs/${sha256(files.map(({ bytes }) => sha256(bytes)).join()).slice(0, 16)}`
  const html = createCodedBytes(referencePage(page, folder), 'text/html; charset=utf-8')
  return new Map<string, Part>([
    [page.path, { coded: html, headers: PAGE_HEADERS }],
    ...files.map(({ path, bytes }): [string, Part] => {
      const mediaType = path.endsWith('.js') ? 'text/javascript' : 'text/css'
      const coded = createCodedBytes(bytes, `${mediaType}; charset=utf-8`)
      return [`${folder}/${basename(path)}`, { coded, headers: { 'cache-control': CACHING.pinned } }]
    }),
  ])
}

const PACKAGED = ['swagger-ui-bundle.js', 'swagger-ui.css'] as const
const OWN = ['reference.js', 'reference.css'] as const

type ReferencePage = {
  readonly path: '/docs' | '/docs/reference'
  readonly title: string
  readonly document: string
  /** The methods that a reader may try from the page, in lower case; none if a key is needed. */
  readonly tries: readonly string[]
  /** Links beside the one to the document: address and text. */
  readonly links: Readonly<Record<string, string>>
  /** An answer with a list of strategies: the first is the example of `{sid}`, and its version that of `{version}`. */
  readonly catalogue?: string
}

/** Nothing but the service itself, no script in the page, and no page around it. */
const REFERENCE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const PAGE_HEADERS = { 'cache-control': CACHING.dataset, 'content-security-policy': REFERENCE_POLICY }

/** The page; its files are in `folder`. */
const referencePage = ({ title, document, tries, links, catalogue }: ReferencePage, folder: string): string =>
  String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${folder}/swagger-ui.css">
<link rel="stylesheet" href="${folder}/reference.css">
<script defer src="${folder}/swagger-ui-bundle.js"></script>
<script type="module" src="${folder}/reference.js"></script>
</head>
<body>
<nav>
${Object.entries({ ...links, [document]: 'OpenAPI document' }).map(([path, text]) => html`<a href="${path}">${text}</a>`)}
</nav>
<noscript>This page is drawn by a script; <a href="${document}">${document}</a> says the same to a program.</noscript>
<main data-document="${document}" data-tries="${tries.join(' ')}" ${catalogue === undefined ? '' : html`data-catalogue="${catalogue}"`}></main>
</body>
</html>`)
