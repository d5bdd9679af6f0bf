import { z } from 'zod'

export type Schema = Readonly<Record<string, unknown>>

/** A zod schema as JSON Schema 2020-12, the dialect of OpenAPI 3.1: of what is answered, or of what is sent. */
export function toSchema(schema: z.ZodType, io: 'output' | 'input' = 'output'): Schema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io })
  return rest
}
