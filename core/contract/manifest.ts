// The manifest of a version: what was published, byte for byte. With a manifest the version is complete.
import { z } from 'zod'
import { TWIN_CODINGS, TWIN_ENDINGS, VERSION_DOCUMENTS } from './artifacts.ts'
import {
  byName,
  flag,
  list,
  listIfAny,
  named,
  object,
  text,
  textOrNull,
  whole,
  wholeOrNull,
  word,
} from './payloads/field.ts'
import type { PointerEntry } from './pointer.ts'

/** How hard a version is compressed: `best` makes the smallest files, `quick` the fastest build. */
export const EFFORTS = ['best', 'good', 'quick'] as const
export type Effort = (typeof EFFORTS)[number]

/** The same for every book: docs/decisions/2026-11-22-how-hard-to-compress.md has the measurements. */
export const DEFAULT_EFFORT: Effort = 'good'

const twin = z.object({
  bytes: whole('Length of the encoded bytes.'),
  sha256: text('Digest of the encoded bytes.'),
})

export const artifact = named('Artifact', {
  url: text('Canonical path and query that this artifact answers.'),
  key: text('Key in the public store; its twins, if any, end in `.br` and `.gz`.'),
  media_type: text('Media type of the answer.'),
  headers: byName('Headers that belong to the answer, beside its media type.', z.string()),
  bytes: whole('Length of the uncompressed bytes.'),
  sha256: text('Digest of the uncompressed bytes.'),
  rows: wholeOrNull('Rows of the table in it, or null.'),
  first: textOrNull('First date, or null.'),
  last: textOrNull('Last date, or null.'),
  encodings: z
    .partialRecord(z.enum(TWIN_CODINGS), twin)
    .describe('The twins of the artifact; binary formats have none.'),
})

export type Artifact = z.infer<typeof artifact>

/** The objects of an artifact: its file, and its twins. */
export const objectsOf = ({ key, bytes, sha256, encodings }: Artifact) => [
  { key, bytes, sha256 },
  ...TWIN_CODINGS.flatMap(coding => {
    const twin = encodings[coding]
    return twin === undefined ? [] : [{ key: key + TWIN_ENDINGS[coding], ...twin }]
  }),
]

export const MANIFEST_VERSION = 1

export const manifest = named('Manifest', {
  manifest_version: z.literal(MANIFEST_VERSION).describe('Version of this format.'),
  version: text('The dataset version, a UTC instant.'),
  entered: textOrNull(
    'When its build began, if the name is more than 36 hours older, a UTC instant; null if the name is the truth. ' +
      'Older releases did not record it.',
  ).default(null),
  render_revision: whole('Revision of the code that renders answers.'),
  snapshot_format: whole('Version of the format of the private snapshot.'),
  strategies: list('Ids in catalogue order.', z.string()),
  instruments: listIfAny(
    'Instruments of `/v1/benchmark`, in the order of its columns; versions without it do not list them.',
    z.string(),
  ),
  window: object('Earliest and latest day of any series.', {
    from: textOrNull('First day of any series, or null.'),
    to: textOrNull('Last day of any series, or null.'),
  }),
  previous: textOrNull('The version that was served before it, null for the first.'),
  history_restated: flag(
    'Whether it alters history that the version before had published: `changes.json` lists it.',
  ),
  documents: z
    .partialRecord(z.enum(VERSION_DOCUMENTS), z.string())
    .describe('Digest of each document beside the artifacts.'),
  built_with: object('The code that built the version, and how hard it compressed.', {
    highwater: text('Version of Highwater.'),
    node: text('Version of Node.'),
    commit: textOrNull('Commit of the code, or null.'),
    lockfile_sha256: textOrNull('Digest of the lock file of its packages, or null.'),
    effort: word('How hard its twins were compressed; older versions do not say.', EFFORTS).optional(),
  }),
  inputs_sha256: textOrNull(
    'Digest of the private, salted record of what was read; null where versions are not signed.',
  ),
  program_sha256: textOrNull(
    'Digest of the private, salted index of the accumulation program; null if there is none.',
  ).default(null),
  time_stamps: z
    .record(
      z.string(),
      z.object({
        at: text('When the authority saw the entry, a UTC instant.'),
        by: text('Its name.'),
      }),
    )
    .default({})
    .describe(
      'The time stamps of earlier entries that its pages name, by the instant since when a history is published: when the ' +
        'authority saw the entry, and its name.',
    ),
  snapshot: byName('Digest of each file of the snapshot in the private store.', z.string()),
  artifacts: list('By key.', artifact),
})

export type Manifest = z.infer<typeof manifest>

export type CurrentVersion = Pick<PointerEntry, 'version' | 'manifest_sha256'>
