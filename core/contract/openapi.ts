// The OpenAPI 3.1 document of the history service, generated from the route table.
import type { ErrorCode } from './errors.ts'
import { FILE_ROUTES, type FileRoute, variableOf } from './file-routes.ts'
import { errorSchema } from './openapi-envelope.ts'
import { exampleComponents } from './openapi-examples.ts'
import { AS_OF, PIN, SID, toParameter, toVariable } from './openapi-parameters.ts'
import { REQUEST_ID_COMPONENT, REQUEST_ID_TEXT, withRequestId } from './openapi-request-id.ts'
import { NOT_MODIFIED, refusals, success } from './openapi-responses.ts'
import { type Schema, toSchema } from './openapi-schema.ts'
import { isPinnable, pinnedTemplate } from './pins.ts'
import { links, meta } from './register.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes.ts'

/** What the document says about the service beside its routes. */
export type ServiceDescription = {
  readonly apiVersion: string
  readonly publicBaseUrl: string
}

const TAGS: {
  readonly [Kind in Route['kind'] | 'pinned' | 'proof']: {
    readonly name: string
    readonly description: string
  }
} = {
  book: { name: 'Book', description: 'What is true of all strategies together.' },
  strategy: { name: 'Strategy', description: 'One strategy: its figures, series and trades.' },
  pinned: { name: 'Pinned', description: 'The same answers of one published version, which never change.' },
  proof: { name: 'Proof', description: 'What was published and served when, with digests and signatures.' },
  infrastructure: { name: 'Infrastructure', description: 'The process and the version that it serves.' },
}

/** The OpenAPI document as a plain object. */
export const toOpenApi = ({ apiVersion, publicBaseUrl }: ServiceDescription): Schema => ({
  openapi: '3.1.0',
  info: {
    title: 'Historical strategy data',
    version: apiVersion,
    summary: 'Audited history of BTC trading strategies: free, read-only, versioned.',
    description:
      'Factual history, not advice and not a forecast. Every figure can be rescaled to another risk level with ' +
      '`risk_pct`. Unknown query parameters are ignored; every refused one is listed in `error.details`. ' +
      REQUEST_ID_TEXT,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: publicBaseUrl, description: 'This service.' }],
  security: [],
  tags: Object.values(TAGS),
  paths: Object.fromEntries([
    ...ROUTES.map(route => [route.path, { get: toOperation(route) }]),
    ...ROUTES.filter(isPinnable).map(route => [pinnedTemplate(route), { get: toPinnedOperation(route) }]),
    ...FILE_ROUTES.map(file => [file.path, { get: toFileOperation(file) }]),
  ]),
  components: {
    schemas: { Meta: toSchema(meta), Links: toSchema(links), Error: errorSchema() },
    headers: REQUEST_ID_COMPONENT,
    examples: exampleComponents(ROUTES),
  },
})

const toOperation = (route: Route): Schema => ({
  operationId: route.id,
  tags: [TAGS[route.kind].name],
  summary: route.title,
  description: route.about,
  parameters: [
    ...(route.kind === 'strategy' ? [SID] : []),
    ...route.query.map(name => toParameter(name, route)),
    ...(isPinnable(route) ? [PIN] : []),
    ...(route.id === 'versions' ? [AS_OF] : []),
  ],
  responses: {
    200: success(route),
    ...(isStored(route) ? NOT_MODIFIED : {}),
    ...(route.id === 'versions' ? AS_OF_FOUND : {}),
    ...withRequestId(refusals([...route.refusals, ...(isPinnable(route) ? PIN_REFUSALS : [])])),
  },
})

const toPinnedOperation = (route: Route): Schema => ({
  operationId: `pinned_${route.id}`,
  tags: [TAGS.pinned.name],
  summary: `${route.title} of a version`,
  description: `${route.about} The bytes are those of the version, for ever.`,
  parameters: [
    toVariable('version'),
    ...(route.kind === 'strategy' ? [SID] : []),
    ...route.query.map(name => toParameter(name, route)),
  ],
  responses: {
    200: success(route),
    ...NOT_MODIFIED,
    ...withRequestId(refusals([...route.refusals, ...PIN_REFUSALS])),
  },
})

const toFileOperation = (file: FileRoute): Schema => {
  const variable = variableOf(file)
  const own: ErrorCode[] = file.of === 'version' ? ['gone', 'not_ready'] : []
  return {
    operationId: file.id,
    tags: [TAGS.proof.name],
    summary: file.title,
    description: file.about,
    parameters: variable === null ? [] : [toVariable(variable)],
    responses: {
      200: { description: 'The object as it was published.', content: { [file.mediaType]: {} } },
      ...NOT_MODIFIED,
      ...withRequestId(refusals(['not_found', ...own, 'unavailable'])),
    },
  }
}

/** What a pin may be refused for. */
const PIN_REFUSALS: readonly ErrorCode[] = ['not_found', 'gone', 'not_ready', 'unavailable', 'overloaded']

const AS_OF_FOUND = {
  307: {
    description: 'With `as_of`: the pinned dataset of that version.',
    headers: { Location: { description: 'Its path.', schema: { type: 'string' } } },
  },
}

/** Health and readiness are true of one moment: caches do not store them, so no client can name one that it has. */
const isStored = ({ id }: Route): boolean => id !== 'healthz' && id !== 'readyz'
