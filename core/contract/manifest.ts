// The manifest of a version: what was published, byte for byte. A manifest means that the version is complete.
import { z } from 'zod'
import type { TwinCoding } from './artifacts.ts'

const twin = z.object({
  bytes: z.int().describe('Length of the encoded bytes.'),
  sha256: z.string().describe('Digest of the encoded bytes.'),
})

export const artifact = z.object({
  url: z.string().describe('Canonical path and query that this artifact answers.'),
  key: z.string().describe('Key in the public store; its twins end in `.br` and `.gz`.'),
  media_type: z.string(),
  headers: z
    .record(z.string(), z.string())
    .describe('Headers that belong to the answer, beside its media type.'),
  bytes: z.int().describe('Length of the uncompressed bytes.'),
  sha256: z.string().describe('Digest of the uncompressed bytes.'),
  rows: z.int().nullable().describe('Rows of the table in it, or null.'),
  first: z.string().nullable().describe('First date, or null.'),
  last: z.string().nullable().describe('Last date, or null.'),
  encodings: z.object({ br: twin, gzip: twin } satisfies Record<TwinCoding, typeof twin>),
})

export type Artifact = z.infer<typeof artifact>

export const MANIFEST_VERSION = 1

export const manifest = z.object({
  manifest_version: z.literal(MANIFEST_VERSION),
  version: z.string(),
  render_revision: z.int(),
  snapshot_format: z.int(),
  strategies: z.array(z.string()).describe('Ids in catalogue order.'),
  window: z.object({ from: z.string().nullable(), to: z.string().nullable() }),
  built_with: z
    .object({
      highwater: z.string(),
      node: z.string(),
      commit: z.string().nullable(),
      lockfile_sha256: z.string().nullable(),
    })
    .describe('The code that built the version.'),
  snapshot: z
    .record(z.string(), z.string())
    .describe('Digest of each file of the snapshot in the private store.'),
  artifacts: z.array(artifact).describe('By key.'),
})

export type Manifest = z.infer<typeof manifest>

/** `v1/current.json`: the version that is served, and the digest of its manifest. */
const currentVersion = z.object({ version: z.string(), manifest_sha256: z.string() })

export type CurrentVersion = z.infer<typeof currentVersion>

/** Reads the pointer. Throws where the bytes are none. */
export const parseCurrent = (bytes: Uint8Array): CurrentVersion =>
  currentVersion.parse(JSON.parse(new TextDecoder().decode(bytes)))
