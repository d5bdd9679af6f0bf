import type { Schema } from './openapi-schema.ts'
import { MOST_PER_PAGE } from './signal-query.ts'

/** `since` and `limit` as OpenAPI has them, of a list that is ascending by number; `rows` names what a page holds. */
export const pageParameters = (rows: 'Rows' | 'Deployments'): readonly Schema[] => [
  {
    name: 'since',
    in: 'query',
    required: false,
    description: 'The highest number that was processed: the answer follows it. 0 gives everything.',
    schema: { type: 'integer', minimum: 0, default: 0 },
  },
  {
    name: 'limit',
    in: 'query',
    required: false,
    description: `${rows} of a page; \`links.next\` leads to the next one. Without it everything is answered at once.`,
    schema: { type: 'integer', minimum: 1, maximum: MOST_PER_PAGE },
  },
]
