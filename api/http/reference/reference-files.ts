import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { sha256 } from '#storage/digest.ts'

/** The files that the page loads. */
export type ReferenceFiles = {
  /** `/docs/0123456789abcdef`: named by what is in it, so that it never changes. */
  readonly folder: string
  readonly files: readonly ReferenceFile[]
}

export type ReferenceFile = {
  readonly name: string
  readonly mediaType: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

const PACKAGED = ['swagger-ui-bundle.js', 'swagger-ui.css'] as const
const OWN = ['reference.js', 'reference.css'] as const

const MEDIA_TYPES = new Map([
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
])

/** Reads the files of the page: those of the package, and those of this room. */
export async function readReferenceFiles(): Promise<ReferenceFiles> {
  const installed = createRequire(import.meta.url)
  const files = await Promise.all([
    ...PACKAGED.map(name => readNamed(name, installed.resolve(`swagger-ui-dist/${name}`))),
    ...OWN.map(name => readNamed(name, join(import.meta.dirname, 'browser', name))),
  ])
  const digest = sha256(new TextEncoder().encode(files.map(({ bytes }) => sha256(bytes)).join()))
  return { folder: `/docs/${digest.slice(0, 16)}`, files }
}

async function readNamed(name: string, path: string): Promise<ReferenceFile> {
  const bytes = new Uint8Array(await readFile(path))
  return { name, mediaType: MEDIA_TYPES.get(extname(name)) ?? 'application/octet-stream', bytes }
}
