// Whether the published description of an answer is whole: every field that is sent must be in it.
import { z } from 'zod'

/** What a value has beside what the description of a schema names, and what it has otherwise than described. */
export function undescribedFields(schema: z.ZodType, value: unknown): string[] {
  const closed = CLOSED.get(schema) ?? closedOf(schema)
  CLOSED.set(schema, closed)
  const { error } = closed.safeParse(value)
  return error === undefined ? [] : [z.prettifyError(error)]
}

/** Made once each. */
const CLOSED = new WeakMap<z.ZodType, z.ZodType>()

function closedOf(schema: z.ZodType): z.ZodType {
  const described = z.toJSONSchema(schema, { io: 'output', override: close })
  return z.fromJSONSchema(described as z.core.JSONSchema.JSONSchema) // as it was written just now
}

/** A map from any key to values of one description stays one; `{}` says only that more is allowed. */
function close({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { type, additionalProperties: rest } = jsonSchema
  const isMap = typeof rest === 'object' && Object.keys(rest).length > 0
  if (type === 'object' && !isMap) jsonSchema.additionalProperties = false
}
