import { z } from 'zod'

export type Schema = Readonly<Record<string, unknown>>

/** A zod schema as JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export function toSchema(schema: z.ZodType): Schema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'output' })
  return rest
}
