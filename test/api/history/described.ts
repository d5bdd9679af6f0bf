// Whether the published description of an answer is whole: every field that is sent must be in it.
import { z } from 'zod'

type JsonSchema = {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema | boolean
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
}

/** The paths of all fields of `value` that `schema` does not name. */
export const undescribedFields = (schema: z.ZodType, value: unknown): string[] =>
  walk(z.toJSONSchema(schema, { io: 'output' }) as JsonSchema, value, '') // the fields that are read here

function walk(schema: JsonSchema, value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  const branches = schema.anyOf ?? [schema]
  const found = branches.map(branch =>
    Array.isArray(value)
      ? value.flatMap(item => walk(branch.items ?? {}, item, `${path}[]`))
      : walkObject(branch, value, path),
  )
  const fewest = found.reduce((least, paths) => (paths.length < least.length ? paths : least))
  return [...new Set(fewest)]
}

const walkObject = ({ properties, additionalProperties: rest }: JsonSchema, value: object, path: string) =>
  Object.entries(value).flatMap(([key, inner]) => {
    const schema = properties?.[key] ?? (isOpen(rest) ? rest : undefined)
    return schema === undefined ? [`${path}/${key}`] : walk(schema, inner, `${path}/${key}`)
  })

/** A map from any key to values of one description; `{}` says only that more is allowed. */
const isOpen = (schema: JsonSchema | boolean | undefined): schema is JsonSchema =>
  typeof schema === 'object' && Object.keys(schema).length > 0
