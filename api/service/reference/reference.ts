import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
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

/** The page, or one of its files. */
type Part = { readonly coded: CodedBytes; readonly headers: AnswerHeaders }

async function prepare(page: ReferencePage): Promise<ReadonlyMap<string, Part>> {
  const { folder, files } = await readReferenceFiles()
  const html = referencePage(page, folder)
  return new Map<string, Part>([
    [page.path, { coded: createCodedBytes(html, 'text/html; charset=utf-8'), headers: PAGE_HEADERS }],
    ...files.map(
      ({ name, bytes, mediaType }) =>
        [`${folder}/${name}`, { coded: createCodedBytes(bytes, mediaType), headers: FILE_HEADERS }] as const,
    ),
  ])
}

const FILE_HEADERS = { 'cache-control': CACHING.pinned }

const PACKAGED = ['swagger-ui-bundle.js', 'swagger-ui.css'] as const
const OWN = ['reference.js', 'reference.css'] as const

const MEDIA_TYPES = new Map([
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
])

/**
 * Reads the files of the page: those of the package, and those of this room. Their folder is
 * `/docs/0123456789abcdef`: named by the digest of its content, so it never changes.
 */
async function readReferenceFiles() {
  const installed = createRequire(import.meta.url)
  const files = await Promise.all([
    ...PACKAGED.map(name => readNamed(name, installed.resolve(`swagger-ui-dist/${name}`))),
    ...OWN.map(name => readNamed(name, join(import.meta.dirname, 'browser', name))),
  ])
  const digest = sha256(files.map(({ bytes }) => sha256(bytes)).join())
  return { folder: `/docs/${digest.slice(0, 16)}`, files }
}

async function readNamed(name: string, path: string) {
  const bytes = new Uint8Array(await readFile(path))
  return { name, mediaType: MEDIA_TYPES.get(extname(name)) ?? 'application/octet-stream', bytes }
}

type ReferencePage = {
  readonly path: '/docs' | '/docs/reference'
  readonly title: string
  /** Path of the OpenAPI document. */
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
