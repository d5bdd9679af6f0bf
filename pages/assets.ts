// What pages load: the scripts, the style sheet and the icon, as files of a version, and what is below `/docs` of any service.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { html } from 'hono/html'
import { type AssetName, type Integrity, SCRIPTS } from './layout.ts'

const CSS = 'text/css; charset=utf-8'
const JAVASCRIPT = 'text/javascript; charset=utf-8'

/** The files of these paths, one after another. */
const readBytes = (...paths: readonly string[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.concat(paths.map(path => readFileSync(new URL(path, import.meta.url)))))

/** Its file is in the folder of a version. */
const asset = (name: AssetName, mediaType: string, bytes: Uint8Array<ArrayBuffer>) => ({
  ...{ name, mediaType, bytes },
  file: `assets/${name}`,
})

const STYLES = ['./style.css', './charts.css']
const ICON = readBytes('./icon.svg')

export const ASSETS = [
  ...SCRIPTS.map(name => asset(name, JAVASCRIPT, readBytes(`./browser/built/${name}`))),
  asset('style.css', CSS, readBytes(...STYLES)),
  asset('icon.svg', 'image/svg+xml', ICON),
]

const DOCS_STYLE = readBytes(...STYLES, './guides/guides.css')
const DOCS_SCRIPT = readBytes('./guides/copy.js')

/** Named by the digest of its content, so it never changes. */
const FOLDER = `/docs/${createHash('sha256').update(DOCS_STYLE).update(DOCS_SCRIPT).digest('hex').slice(0, 16)}`

export const DOCS_FILES = [
  { path: `${FOLDER}/style.css`, mediaType: CSS, bytes: DOCS_STYLE },
  { path: `${FOLDER}/copy.js`, mediaType: JAVASCRIPT, bytes: DOCS_SCRIPT },
] as const

/** The elements of a head that load them, and the icon, of which not each service has an address. */
export const DOCS_HEAD = html`<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(Buffer.from(ICON).toString())}">
<link rel="stylesheet" href="${FOLDER}/style.css">
<script type="module" src="${FOLDER}/copy.js"></script>`

/** The digest of a file as the attribute `integrity` spells it, from its SHA-256 in hexadecimal. */
export const toIntegrity = (sha256: string): string =>
  `sha256-${Buffer.from(sha256, 'hex').toString('base64')}`

export const INTEGRITY: Integrity = Object.fromEntries(
  ASSETS.map(({ name, bytes }) => [name, toIntegrity(createHash('sha256').update(bytes).digest('hex'))]),
)
