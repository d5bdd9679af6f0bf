// The two envelopes as OpenAPI describes them; `Meta` and `Links` are components of either document.
import { errorPayload } from './errors.ts'
import { type Schema, toSchema } from './openapi-schema.ts'

/** The envelope around an answer; `about` describes data that do not describe themselves. */
export const envelopeSchema = (data: Schema, about: string): Schema => ({
  type: 'object',
  required: ['data', 'meta', 'links'],
  properties: {
    data: { description: about, ...data },
    meta: { $ref: '#/components/schemas/Meta' },
    links: { $ref: '#/components/schemas/Links' },
  },
})

/** The envelope of every error. */
export const errorSchema = (): Schema => ({
  type: 'object',
  required: ['error', 'meta'],
  properties: { error: toSchema(errorPayload), meta: { $ref: '#/components/schemas/Meta' } },
  description: 'The envelope of every error.',
})
