// The scripts, the style sheet and the icon of the pages, as files of a version.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type AssetName, type Integrity, SCRIPTS } from './layout.ts'

/** A file of this folder, such as `./style.css`. */
export const readBytes = (path: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(readFileSync(new URL(path, import.meta.url)))

/** Its file is in the folder of a version. */
const asset = (name: AssetName, mediaType: string, bytes: Uint8Array<ArrayBuffer>) => ({
  ...{ name, mediaType, bytes },
  file: `assets/${name}`,
})

const STYLES = Buffer.concat([readBytes('./style.css'), readBytes('./charts.css')])

export const ASSETS = [
  ...SCRIPTS.map(name => asset(name, 'text/javascript; charset=utf-8', readBytes(`./browser/built/${name}`))),
  asset('style.css', 'text/css; charset=utf-8', Uint8Array.from(STYLES)),
  asset('icon.svg', 'image/svg+xml', readBytes('./icon.svg')),
]

/** The digest of a file as the attribute `integrity` spells it, from its SHA-256 in hexadecimal. */
export const toIntegrity = (sha256: string): string =>
  `sha256-${Buffer.from(sha256, 'hex').toString('base64')}`

export const INTEGRITY: Integrity = Object.fromEntries(
  ASSETS.map(({ name, bytes }) => [name, toIntegrity(createHash('sha256').update(bytes).digest('hex'))]),
)
