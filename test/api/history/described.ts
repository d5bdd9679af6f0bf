// Whether the published description of an answer is whole: every field that is sent must be in it.
import { z } from 'zod'

type JsonSchema = {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema | boolean
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly $ref?: string
  readonly $defs?: Defs
}

type Defs = Readonly<Record<string, JsonSchema>>

/** The paths of all fields of `value` that `schema` does not name. */
export const undescribedFields = (schema: z.ZodType, value: unknown): string[] =>
  walkRoot(z.toJSONSchema(schema, { io: 'output' }) as JsonSchema, value) // the fields that are read here

const walkRoot = (root: JsonSchema, value: unknown): string[] => walk(root, value, '', root.$defs ?? {})

function walk(schema: JsonSchema, value: unknown, path: string, defs: Defs): string[] {
  if (typeof value !== 'object' || value === null) return []
  const branches = (schema.anyOf ?? [schema]).map(branch => resolved(branch, defs))
  const found = branches.map(branch =>
    Array.isArray(value)
      ? value.flatMap(item => walk(branch.items ?? {}, item, `${path}[]`, defs))
      : walkObject(branch, value, path, defs),
  )
  const fewest = found.reduce((least, paths) => (paths.length < least.length ? paths : least))
  return [...new Set(fewest)]
}

/** The schema itself, or the named one that it refers to. */
function resolved(schema: JsonSchema, defs: Defs): JsonSchema {
  if (schema.$ref === undefined) return schema
  const named = defs[schema.$ref.replace('#/$defs/', '')]
  if (named === undefined) throw new Error(`no schema has the name of ${schema.$ref}`)
  return named
}

const walkObject = (
  { properties, additionalProperties: rest }: JsonSchema,
  value: object,
  path: string,
  defs: Defs,
) =>
  Object.entries(value).flatMap(([key, inner]) => {
    const schema = properties?.[key] ?? (isOpen(rest) ? rest : undefined)
    return schema === undefined ? [`${path}/${key}`] : walk(schema, inner, `${path}/${key}`, defs)
  })

/** A map from any key to values of one description; `{}` says only that more is allowed. */
const isOpen = (schema: JsonSchema | boolean | undefined): schema is JsonSchema =>
  typeof schema === 'object' && Object.keys(schema).length > 0
