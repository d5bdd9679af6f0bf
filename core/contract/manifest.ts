// The manifest of a version: what was published, byte for byte. With a manifest the version is complete.
import { z } from 'zod'
import { TWIN_CODINGS, VERSION_DOCUMENTS } from './artifacts.ts'
import { EFFORTS } from './effort.ts'
import type { PointerEntry } from './pointer.ts'

const twin = z.object({
  bytes: z.int().describe('Length of the encoded bytes.'),
  sha256: z.string().describe('Digest of the encoded bytes.'),
})

export const artifact = z
  .object({
    url: z.string().describe('Canonical path and query that this artifact answers.'),
    key: z.string().describe('Key in the public store; its twins, if any, end in `.br` and `.gz`.'),
    media_type: z.string().describe('Media type of the answer.'),
    headers: z
      .record(z.string(), z.string())
      .describe('Headers that belong to the answer, beside its media type.'),
    bytes: z.int().describe('Length of the uncompressed bytes.'),
    sha256: z.string().describe('Digest of the uncompressed bytes.'),
    rows: z.int().nullable().describe('Rows of the table in it, or null.'),
    first: z.string().nullable().describe('First date, or null.'),
    last: z.string().nullable().describe('Last date, or null.'),
    encodings: z
      .partialRecord(z.enum(TWIN_CODINGS), twin)
      .describe('The twins of the artifact; binary formats have none.'),
  })
  .meta({ id: 'Artifact' })

export type Artifact = z.infer<typeof artifact>

export const MANIFEST_VERSION = 1

export const manifest = z
  .object({
    manifest_version: z.literal(MANIFEST_VERSION).describe('Version of this format.'),
    version: z.string().describe('The dataset version, a UTC instant.'),
    entered: z
      .string()
      .nullable()
      .default(null)
      .describe(
        'When its build began, if the name is more than 36 hours older, a UTC instant; null if the name is the truth. ' +
          'Older releases did not record it.',
      ),
    render_revision: z.int().describe('Revision of the code that renders answers.'),
    snapshot_format: z.int().describe('Version of the format of the private snapshot.'),
    strategies: z.array(z.string()).describe('Ids in catalogue order.'),
    instruments: z
      .array(z.string())
      .optional()
      .describe(
        'Instruments of `/v1/benchmark`, in the order of its columns; versions without it do not list them.',
      ),
    window: z
      .object({
        from: z.string().nullable().describe('First day of any series, or null.'),
        to: z.string().nullable().describe('Last day of any series, or null.'),
      })
      .describe('Earliest and latest day of any series.'),
    previous: z.string().nullable().describe('The version that was served before it, null for the first.'),
    history_restated: z
      .boolean()
      .describe('Whether it alters history that the version before had published: `changes.json` lists it.'),
    documents: z
      .partialRecord(z.enum(VERSION_DOCUMENTS), z.string())
      .describe('Digest of each document beside the artifacts.'),
    built_with: z
      .object({
        highwater: z.string().describe('Version of Highwater.'),
        node: z.string().describe('Version of Node.'),
        commit: z.string().nullable().describe('Commit of the code, or null.'),
        lockfile_sha256: z.string().nullable().describe('Digest of the lock file of its packages, or null.'),
        effort: z
          .enum(EFFORTS)
          .optional()
          .describe('How hard its twins were compressed; older versions do not say.'),
      })
      .describe('The code that built the version, and how hard it compressed.'),
    inputs_sha256: z
      .string()
      .nullable()
      .describe('Digest of the private, salted record of what was read; null where versions are not signed.'),
    program_sha256: z
      .string()
      .nullable()
      .default(null)
      .describe('Digest of the private, salted index of the accumulation program; null if there is none.'),
    time_stamps: z
      .record(
        z.string(),
        z.object({
          at: z.string().describe('When the authority saw the entry, a UTC instant.'),
          by: z.string().describe('Its name.'),
        }),
      )
      .default({})
      .describe(
        'The time stamps of earlier entries that its pages name, by the instant since when a history is published: when the ' +
          'authority saw the entry, and its name.',
      ),
    snapshot: z
      .record(z.string(), z.string())
      .describe('Digest of each file of the snapshot in the private store.'),
    artifacts: z.array(artifact).describe('By key.'),
  })
  .meta({ id: 'Manifest' })

export type Manifest = z.infer<typeof manifest>

export type CurrentVersion = Pick<PointerEntry, 'version' | 'manifest_sha256'>
