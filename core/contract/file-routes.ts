// Objects of the public store that the service hands out as they are: proof of the answers, not answers
// themselves.
import { z } from 'zod'
import { toCompactInstant } from '#core/calendar.ts'
import { documentKey, type VersionDocument } from './artifacts.ts'
import { manifest } from './manifest.ts'
import { changes } from './payloads/changes.ts'
import { list, named, record, records, text, whole } from './payloads/field.ts'
import { currentHint, pointerEntry } from './pointer.ts'
import { type Route, variablesOf } from './route.ts'
import { SEALS_PREFIX } from './seals.ts'

export const KEYS_KEY = 'v1/keys.json'
export const KEYS_PATH = '/.well-known/highwater-keys.json'

export const publicKeys = named('PublicKeys', {
  keys: list(
    'The keys, each of them valid.',
    z.object({
      id: text('The beginning of the SHA-256 of the DER form of the key.'),
      algorithm: z.literal('Ed25519').describe('How the key signs.'),
      public_key_pem: text('SubjectPublicKeyInfo in PEM form, as openssl reads it.'),
    }),
  ),
})

export type PublicKeys = z.infer<typeof publicKeys>

/** `handler` turns the variable of the path (a version as UTC instant, a number, a digest) into a key. */
export type FileRoute = Route<'proof', (variable: string) => string> & {
  readonly mediaType: string
  /** What the object is, for its check against the pointer log; null if it may change. */
  readonly proof: Proof | null
  /** `version` belongs to a published version, `log` to the pointer log, `seals` to the chain of seals, `service` to none of them. */
  readonly of: 'version' | 'log' | 'seals' | 'service'
}

type Proof = 'seals' | 'entry' | 'signature of entry' | 'manifest' | 'signature of manifest' | VersionDocument

const BINARY = { data: z.string().meta({ format: 'binary' }), mediaType: 'application/octet-stream' }
const TEXT = { data: z.string(), mediaType: 'text/plain; charset=utf-8' }

type Definition = Pick<FileRoute, 'id' | 'path' | 'title' | 'about' | 'data'> &
  Partial<Pick<FileRoute, 'mediaType' | 'proof' | 'handler'>>

/** A file of JSON, if it has no other media type, under the key that is its path, if it has no other. */
function fileRoute(definition: Definition): FileRoute {
  const [variable] = variablesOf(definition.path)
  const isVersion = variable === 'version'
  const others = variable === undefined ? 'service' : isVersion ? 'version' : 'log'
  return {
    method: 'GET',
    group: 'proof',
    isBare: true,
    statuses: [200, 304],
    mediaType: 'application/json; charset=utf-8',
    proof: null,
    handler: value =>
      definition.path.slice(1).replace(`{${variable}}`, isVersion ? toCompactInstant(value) : value),
    of: definition.path.startsWith(`/${SEALS_PREFIX}`) ? 'seals' : others,
    refusals: ['not_found', ...(isVersion ? (['gone', 'not_ready'] as const) : []), 'unavailable'],
    ...definition,
  }
}

const dataPackage = record('A Frictionless Data Package.', {
  $schema: text('The profile of the Data Package standard.'),
  name: text('Name of the package.'),
  description: text('What the package is, and the terms under which it must be read.'),
  homepage: z.string().optional().describe('Address of the service, if the operator states it.'),
  licenses: records('The licence, if the operator declares one.', {
    name: text('Id of the licence, such as `CC-BY-4.0`.'),
    title: z.string().optional().describe('Its name, for people.'),
    path: z.string().optional().describe('Address of its text.'),
  }).optional(),
  sources: records('Where the data come from, as declared; older versions do not say.', {
    title: text('The source, for people.'),
  }).optional(),
  version: text('The dataset version.'),
  resources: records('The files.', {
    name: text('Name of the file in the package.'),
    path: text('Path of the file below the folder of the version.'),
    format: text('Ending of the file.'),
    mediatype: text('Media type of the file.'),
    bytes: whole('Length of the file.'),
    hash: text('`sha256:` and the digest of the file.'),
  }),
}).meta({ id: 'DataPackage' })

export const FILE_ROUTES: readonly FileRoute[] = [
  fileRoute({
    id: 'manifest',
    data: manifest,
    path: '/v1/snapshots/{version}/manifest.json',
    title: 'Manifest',
    about: 'What a version is, byte for byte: every file with its length and digest.',
    proof: 'manifest',
  }),
  fileRoute({
    id: 'manifest_signature',
    ...BINARY,
    path: '/v1/snapshots/{version}/manifest.json.sig',
    title: 'Signature of the manifest',
    about: 'Ed25519 signature of the bytes of the manifest, 64 bytes; 404 where versions are not signed.',
    proof: 'signature of manifest',
  }),
  fileRoute({
    id: 'checksums',
    ...TEXT,
    path: '/v1/snapshots/{version}/SHA256SUMS',
    title: 'Checksums',
    about: 'The digests of the files of a version, for `sha256sum -c` in a copy of its folder.',
    proof: 'SHA256SUMS',
  }),
  fileRoute({
    id: 'data_package',
    data: dataPackage,
    path: '/v1/snapshots/{version}/datapackage.json',
    title: 'Data package',
    about: 'The files of a version described as a Frictionless Data Package.',
    proof: 'datapackage.json',
  }),
  fileRoute({
    id: 'changes',
    data: changes,
    path: '/v1/snapshots/{version}/changes',
    title: 'Changes',
    about: 'What a version appends to the one before it, and which published values it restates.',
    proof: 'changes.json',
    handler: version => documentKey(version, 'changes.json'),
  }),
  fileRoute({
    id: 'pointer_entry',
    data: pointerEntry,
    path: '/v1/pointer/{seq}.json',
    title: 'Pointer entry',
    about:
      'An entry of the append-only log of which version was served when: 0000000001, 0000000002 and so on.',
    proof: 'entry',
  }),
  fileRoute({
    id: 'pointer_signature',
    ...BINARY,
    path: '/v1/pointer/signatures/{sha256}.sig',
    title: 'Signature of a pointer entry',
    about: 'Ed25519 signature of the pointer entry whose bytes have this SHA-256, 64 bytes.',
    proof: 'signature of entry',
  }),
  fileRoute({
    id: 'pointer_anchor',
    ...BINARY,
    path: '/v1/pointer/anchors/{sha256}',
    title: 'Time stamp of a pointer entry',
    about:
      'Proof of an authority of when the pointer entry was there whose bytes have this SHA-256: a reply of RFC 3161, or what ' +
      'else the operator uses; 404 where there is none.',
  }),
  fileRoute({
    id: 'current',
    data: currentHint,
    path: '/v1/current.json',
    title: 'Newest pointer entry',
    about:
      'Number and version of the newest pointer entry when it was written; look for the entries after it until one is missing.',
  }),
  fileRoute({
    id: 'keys',
    data: publicKeys,
    path: KEYS_PATH,
    title: 'Public keys',
    about: 'The public keys with which manifests and pointer entries are signed; 404 where they are not.',
    handler: () => KEYS_KEY,
  }),
  fileRoute({
    id: 'seal_head',
    ...TEXT,
    path: '/v1/seals/head',
    title: 'Newest seal',
    about:
      'The newest seal of live signals when it was written; look for those after it until one is missing.',
  }),
  fileRoute({
    id: 'seal',
    ...TEXT,
    path: '/v1/seals/{n}',
    title: 'Seal',
    about:
      'A signed note (C2SP) of constant length which commits the publisher to the live signals of ten minutes and says nothing ' +
      'about them: 000000001, 000000002 and so on. Where a day has a file, only the first seal of all need be here.',
    proof: 'seals',
  }),
  fileRoute({
    id: 'seals_of_day',
    ...TEXT,
    path: '/v1/seals/days/{date}',
    title: 'Seals of a day',
    about: 'The seals that end on a UTC day, one after the other; 404 until the day is over.',
    proof: 'seals',
  }),
  fileRoute({
    id: 'seal_opening',
    data: z.string(),
    path: '/v1/seals/openings/{date}.jsonl',
    title: 'Opening of a day',
    about:
      'What was sealed on a UTC day: its key and time stamps, then the batch and the items of each seal that has some. 404 until a ' +
      'version of the data has the day.',
    mediaType: 'application/jsonl',
  }),
  fileRoute({
    id: 'seal_anchor',
    ...BINARY,
    path: '/v1/seals/anchors/{n}',
    title: 'Time stamp of a seal',
    about:
      'Proof of an authority of when a seal was there, like that of a pointer entry; 404 where there is none.',
  }),
  fileRoute({
    id: 'seal_key',
    data: z.string(),
    path: '/v1/seals/keys/{key}.pem',
    title: 'Key of seals',
    about: 'The public Ed25519 key with this id, which an origin of seals names.',
    mediaType: 'application/x-pem-file',
  }),
]

export const FILE_VARIABLES = {
  version: { about: 'Compact form of a dataset version: `20261121T001500Z`.', pattern: /^\d{8}T\d{6}Z$/ },
  seq: { about: 'Number of the entry, ten digits.', pattern: /^\d{10}$/ },
  sha256: { about: 'SHA-256 of the bytes of the entry, hexadecimal.', pattern: /^[0-9a-f]{64}$/ },
  n: { about: 'Number of the seal, nine digits.', pattern: /^\d{9}$/ },
  date: { about: 'A UTC day, `YYYY-MM-DD`.', pattern: /^\d{4}-\d{2}-\d{2}$/ },
  key: { about: 'Id of the key, 16 hexadecimal digits.', pattern: /^[0-9a-f]{16}$/ },
} as const

export type FileVariable = keyof typeof FILE_VARIABLES
