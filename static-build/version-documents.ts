import { z } from 'zod'
import { artifactKey, type VersionDocument, versionFolder } from '#core/contract/artifacts.ts'
import { type Artifact, type Manifest, objectsOf } from '#core/contract/manifest.ts'
import type { Format, Params } from '#core/contract/parameters.ts'
import type { Changes } from '#core/contract/payloads/changes.ts'
import { dataSchema } from '#core/contract/route.ts'
import { effectiveInstant } from '#core/dataset/entered.ts'
import { BOOK_COLUMN } from '#core/dataset/equal-weight-book.ts'
import { utcNameOf, withInstants } from '#core/dataset/render/csv.ts'
import type { DatasetRoute } from '#core/dataset/resources/resource.ts'
import { canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { sha256 } from '#storage/digest.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import { IMMUTABLE_JSON, IMMUTABLE_TEXT, type ObjectHeaders } from '#storage/object-store.ts'

export type Document = {
  readonly name: VersionDocument
  readonly bytes: Uint8Array
  readonly headers: ObjectHeaders
}

/** What a manifest says of the files of its version. */
type Described = Pick<Manifest, 'version' | 'entered' | 'strategies' | 'instruments' | 'artifacts'>

/** What a version has beside its artifacts. The list of digests comes last: it names the others. */
export function versionDocuments(manifest: Described, snapshot: Snapshot, changes: Changes) {
  const described = toJsonBytes(dataPackage(manifest, snapshot))
  const documents: Document[] = [
    { name: 'changes.json', bytes: toJsonBytes(changes), headers: IMMUTABLE_JSON },
    { name: 'datapackage.json', bytes: described, headers: IMMUTABLE_JSON },
  ]
  const sums = new TextEncoder().encode(sha256Sums({ ...manifest, documents: digestsOf(documents) }))
  documents.push({ name: 'SHA256SUMS', bytes: sums, headers: IMMUTABLE_TEXT })
  return documents
}

export const digestsOf = (documents: readonly Document[]): Manifest['documents'] =>
  Object.fromEntries(documents.map(({ name, bytes }) => [name, sha256(bytes)]))

// `datapackage.json`: a version as a Data Package of the Frictionless standard, version 2
// (https://datapackage.org).

const PROFILE = 'https://datapackage.org/profiles/2.0'

const ABOUT =
  'Recomputable history of trading strategies: factual, not advice and not a forecast. Every file is listed with its ' +
  'length and digest; `manifest.json` beside this file is what is signed. Paths are relative to the folder of the version.'

/** The descriptor of a version: a resource for each artifact, with a Table Schema if its file is a table. */
export function dataPackage(manifest: Described, { dataset, strategies: records }: Snapshot): object {
  const { version, entered, strategies, instruments = [], artifacts } = manifest
  const { licence } = dataset
  const points = pointsByKey(version, strategies)
  const tables = tablesByName(strategies, instruments)
  const folder = `${versionFolder(version)}/`
  return {
    $schema: `${PROFILE}/datapackage.json`,
    name: 'historical-strategy-data',
    title: 'Historical strategy data',
    description: `${dataset.synthetic ? 'Synthetic data. ' : ''}${ABOUT} ${dataset.disclaimer}`,
    homepage: dataset.public_url ?? undefined, // what is undefined is left out of the JSON
    licenses:
      licence === null
        ? undefined
        : [{ ...licence, title: licence.title ?? undefined, path: licence.path ?? undefined }],
    sources: [...new Set([dataset, ...records].map(each => each.data_source))].map(title => ({ title })),
    version,
    created: effectiveInstant({ version, entered }),
    resources: artifacts.map(artifact => {
      const path = toRelative(artifact.key, folder)
      const answer = points.get(artifact.key)
      const names = { name: path.replaceAll('/', '.'), path }
      const facts = factsOf(artifact, path)
      if (answer === undefined) return { ...names, ...facts } // of a route that this program does not know
      const { route, params } = answer
      return { ...names, ...titlesOf(answer), ...facts, ...tables.get(tableName(route, params.format)) }
    }),
  }
}

type CanonicalAnswer = { readonly route: DatasetRoute; readonly params: Params }

const pointsByKey = (version: string, strategies: readonly string[]): Map<string, CanonicalAnswer> =>
  new Map(
    DATASET_ROUTES.flatMap(route =>
      canonicalPoints(route, strategies).map(params => [
        artifactKey(version, route, params),
        { route, params },
      ]),
    ),
  )

/** The same for all strategies, so made once: a large book has thousands of files. */
const tablesByName = (strategies: readonly string[], instruments: readonly string[]): Map<string, object> =>
  new Map(
    DATASET_ROUTES.flatMap(route =>
      route.published
        .filter(format => format !== 'json')
        .map(format => [
          tableName(route, format),
          toTable(route, format, route.id === 'benchmark' ? [...instruments, BOOK_COLUMN] : strategies),
        ]),
    ),
  )

const tableName = ({ id }: DatasetRoute, format: Format): string => `${id}.${format}`

const factsOf = ({ media_type, bytes, sha256 }: Artifact, path: string): object => ({
  format: path.slice(path.lastIndexOf('.') + 1),
  mediatype: media_type.split(';', 1)[0],
  ...(media_type.includes('charset=utf-8') ? { encoding: 'utf-8' } : {}),
  bytes,
  hash: `sha256:${sha256}`,
})

/** `Returns, alder, weekly`, and what the route says of itself. */
function titlesOf({ route, params }: CanonicalAnswer): object {
  const sid = params.sid === '' ? [] : [params.sid]
  const period = 'period' in route.query ? [params.period] : []
  return { title: [route.title, ...sid, ...period].join(', '), description: route.about }
}

/**
 * The columns of a table as a Table Schema, from the payload that describes the same table on the wire; one
 * column for each strategy or instrument if the rows hold all of them. JSON answers have an envelope, so they
 * are no tables to the standard; the other formats hold the rows alone. `unit` is ours: the standard leaves
 * units to additional properties.
 */
function toTable(route: DatasetRoute, format: Format, columns: readonly string[]): object {
  const fields = columnsOf(dataSchema(route)).flatMap(([name, column]) =>
    column.additionalProperties === undefined
      ? [toField(name, column, format)]
      : columns.map(id => toWideField(id, name, column)),
  )
  const isDated = fields[0]?.name === 't'
  return {
    type: 'table',
    ...(format === 'csv' ? { dialect: { delimiter: ',', lineTerminator: '\r\n', header: true } } : {}),
    schema: {
      $schema: `${PROFILE}/tableschema.json`,
      fields:
        format === 'csv'
          ? withInstants<object & { readonly name: string }>(fields, utcFields(fields))
          : fields,
      ...(format === 'csv' ? { missingValues: [''] } : {}),
      ...(isDated ? { primaryKey: [fields[0]?.name] } : {}),
    },
  }
}

/** What a number in a column of this name counts. */
const UNITS: Readonly<Record<string, string>> = {
  ret: 'fraction',
  rets: 'fraction',
  equity: 'multiple of the equity before the first day',
  entry_time: 'milliseconds since 1970-01-01T00:00:00Z',
  exit_time: 'milliseconds since 1970-01-01T00:00:00Z',
  entry_price: 'currency of the strategy',
  exit_price: 'currency of the strategy',
  duration_days: 'days',
  return_pct: 'percent',
}

/** Instants: a number in text, a timestamp in the binary formats, which know their unit. */
const INSTANTS: readonly string[] = ['entry_time', 'exit_time']

type Column = z.core.JSONSchema.BaseSchema & { readonly isNullable?: boolean }

/** The columns of a table by name: its payload is a list of rows, or holds one under `rows`. */
function columnsOf(payload: z.ZodType): readonly (readonly [name: string, column: Column])[] {
  const rows = payload instanceof z.ZodArray ? payload : (payload as z.ZodObject).shape.rows
  const { shape } = (rows as z.ZodArray<z.ZodObject>).element
  return Object.entries(shape).map(([name, field]) => {
    const { anyOf, ...column } = z.toJSONSchema(field, { io: 'output' })
    return [name, anyOf === undefined ? column : { ...Object(anyOf[0]), isNullable: true }] // or null
  })
}

/** What is undefined here is left out of the JSON. */
function toField(name: string, column: Column, format: Format) {
  const type = typeOf(name, column, format)
  const unit = type === 'datetime' ? undefined : UNITS[name]
  return {
    name,
    type,
    description: column.description,
    unit,
    constraints: { required: column.isNullable ? undefined : true, enum: column.enum },
  }
}

/** In CSV instants are there a second time. */
const utcFields = (fields: readonly { readonly name: string; readonly description: string | undefined }[]) =>
  fields
    .filter(({ name }) => INSTANTS.includes(name))
    .map(({ name }) => ({
      name: utcNameOf(name),
      type: 'datetime',
      description: `\`${name}\` in ISO 8601.`,
      constraints: { required: true },
    }))

/** Not required: a strategy has no value before its inception, and an instrument none where no strategy is on it. */
const toWideField = (id: string, name: string, { description }: Column) => ({
  name: id,
  type: 'number',
  description,
  unit: UNITS[name],
})

function typeOf(name: string, { type, format: wireFormat }: Column, format: Format) {
  if (wireFormat === 'date') return format === 'csv' ? 'date' : 'datetime'
  if (INSTANTS.includes(name)) return format === 'csv' ? 'integer' : 'datetime'
  return type === 'number' ? 'number' : 'string'
}

/**
 * `SHA256SUMS` of a version: a line for each of its artifacts, their twins and the other documents, by path,
 * in the form of GNU coreutils: `sha256sum -c SHA256SUMS` accepts it in a copy of the version's folder. The
 * manifest is not in it: it is what names this list.
 */
export function sha256Sums(manifest: Pick<Manifest, 'version' | 'documents' | 'artifacts'>): string {
  const { version, documents, artifacts } = manifest
  const folder = `${versionFolder(version)}/`
  const objects = artifacts.flatMap(objectsOf)
  return [
    ...Object.entries(documents),
    ...objects.map(({ key, sha256 }) => [toRelative(key, folder), sha256] as const),
  ]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, sha256]) => `${sha256}  ${path}\n`)
    .join('')
}

/** The path of a key in the folder of its version. Throws if it is elsewhere, so not in a copy of it. */
function toRelative(key: string, folder: string): string {
  if (key.startsWith(folder)) return key.slice(folder.length)
  throw new Error(`the artifact '${key}' is not in the folder '${folder}' of its version`)
}
