// `datapackage.json`: a version as a Data Package of the Frictionless standard, version 2 (https://datapackage.org).
import { artifactKey, versionFolder } from '#core/contract/artifacts.ts'
import type { Artifact, Manifest } from '#core/contract/manifest.ts'
import type { Format, Params } from '#core/contract/parameters.ts'
import type { DatasetRoute } from '#core/dataset/resources/resource.ts'
import { canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { toRelative } from './sha256-sums.ts'
import { tableFields } from './table-fields.ts'

const PROFILE = 'https://datapackage.org/profiles/2.0'

const ABOUT =
  'Audited history of trading strategies: factual, not advice and not a forecast. Every file is listed with its ' +
  'length and digest; `manifest.json` beside this file is what is signed. Paths are relative to the folder of the version.'

/** The descriptor of a version: a resource for each artifact, with a Table Schema where its file is a table. */
export function dataPackage({
  version,
  strategies,
  artifacts,
}: Pick<Manifest, 'version' | 'strategies' | 'artifacts'>): object {
  const points = pointsByKey(version, strategies)
  const tables = tablesByName(strategies)
  const folder = `${versionFolder(version)}/`
  return {
    $schema: `${PROFILE}/datapackage.json`,
    name: 'historical-strategy-data',
    title: 'Historical strategy data',
    description: ABOUT,
    version,
    created: version,
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

/** A canonical answer: what a file holds. */
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
const tablesByName = (strategies: readonly string[]): Map<string, object> =>
  new Map(
    DATASET_ROUTES.flatMap(route =>
      route.formats
        .filter(format => format !== 'json')
        .map(format => [tableName(route, format), toTable(route, format, strategies)]),
    ),
  )

const tableName = ({ id }: DatasetRoute, format: Format): string => `${id}.${format}`

/** What the manifest says of a file. */
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

/** JSON answers have an envelope, so they are no tables to the standard; the other formats hold the rows alone. */
function toTable(route: DatasetRoute, format: Format, strategies: readonly string[]): object {
  const fields = tableFields(route, format, strategies)
  const isDated = fields[0]?.type === 'date'
  return {
    type: 'table',
    ...(format === 'csv' ? { dialect: { delimiter: ',', lineTerminator: '\r\n', header: true } } : {}),
    schema: {
      $schema: `${PROFILE}/tableschema.json`,
      fields,
      ...(format === 'csv' ? { missingValues: [''] } : {}),
      ...(isDated ? { primaryKey: [fields[0]?.name] } : {}),
    },
  }
}
