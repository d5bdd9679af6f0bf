// What the pages below `/docs` load, whichever service they are of.
import { createHash } from 'node:crypto'
import { html } from 'hono/html'
import { ASSETS, readBytes } from '../assets.ts'

const PAGES_STYLE = ASSETS.find(({ name }) => name === 'style.css')!.bytes
const STYLE = Uint8Array.from(Buffer.concat([PAGES_STYLE, readBytes('./guides/guides.css')]))
const SCRIPT = readBytes('./guides/copy.js')

/** Named by the digest of its content, so it never changes. */
const FOLDER = `/docs/${createHash('sha256').update(STYLE).update(SCRIPT).digest('hex').slice(0, 16)}`

export const DOCS_FILES = [
  { path: `${FOLDER}/style.css`, mediaType: 'text/css; charset=utf-8', bytes: STYLE },
  { path: `${FOLDER}/copy.js`, mediaType: 'text/javascript; charset=utf-8', bytes: SCRIPT },
] as const

const ICON = encodeURIComponent(Buffer.from(ASSETS.find(({ name }) => name === 'icon.svg')!.bytes).toString())

/** The elements of a head that load them, and the icon, of which not each service has an address. */
export const DOCS_HEAD = html`<link rel="icon" href="data:image/svg+xml,${ICON}">
<link rel="stylesheet" href="${FOLDER}/style.css">
<script type="module" src="${FOLDER}/copy.js"></script>`
