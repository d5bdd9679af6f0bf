// The scripts, the style sheet and the icon of the pages, as files of a version.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Integrity, SCRIPTS } from './layout.ts'

/** A file of this room, such as `./style.css`. */
export const readBytes = (path: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(readFileSync(new URL(path, import.meta.url)))

/** Their files are in the folder of a version. */
export const ASSETS = [
  ...SCRIPTS.map(name => ({
    name,
    file: `assets/${name}`,
    mediaType: 'text/javascript; charset=utf-8',
    bytes: readBytes(`./browser/built/${name}`),
  })),
  {
    name: 'style.css' as const,
    file: 'assets/style.css',
    mediaType: 'text/css; charset=utf-8',
    bytes: Uint8Array.from([...readBytes('./style.css'), ...readBytes('./charts.css')]),
  },
  {
    name: 'icon.svg' as const,
    file: 'assets/icon.svg',
    mediaType: 'image/svg+xml',
    bytes: readBytes('./icon.svg'),
  },
]

/** The digest of a file as the attribute `integrity` spells it, from its SHA-256 in hexadecimal. */
export const toIntegrity = (sha256: string): string =>
  `sha256-${Buffer.from(sha256, 'hex').toString('base64')}`

export const INTEGRITY: Integrity = Object.fromEntries(
  ASSETS.map(({ name, bytes }) => [name, toIntegrity(createHash('sha256').update(bytes).digest('hex'))]),
)
