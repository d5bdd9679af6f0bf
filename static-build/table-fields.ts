// The columns of a published table as a Table Schema, from the payload that describes the same table on the wire.
import { z } from 'zod'
import type { Format } from '#core/contract/parameters.ts'
import { dataSchema } from '#core/contract/route.ts'
import type { DatasetRoute } from '#core/dataset/resources/resource.ts'

/** A field of a Table Schema. `unit` is ours: the standard leaves units to additional properties. */
export type Field = {
  readonly name: string
  readonly type: 'date' | 'datetime' | 'integer' | 'number' | 'string'
  readonly description?: string
  readonly unit?: string
  readonly constraints?: { readonly required?: true; readonly enum?: readonly string[] }
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

const property = z.object({
  type: z.string(),
  format: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.string()).optional(),
  additionalProperties: z.object({ type: z.string() }).optional().catch(undefined),
})

const rowObject = z.object({ properties: z.record(z.string(), property) })

/** The payload of a table is a list of rows, or holds one under `rows`. */
const tablePayload = z.union([
  z.object({ items: rowObject }).transform(({ items }) => items),
  z
    .object({ properties: z.object({ rows: z.object({ items: rowObject }) }) })
    .transform(({ properties }) => properties.rows.items),
])

/** The fields of a table in a format, in the order of its columns; a column a strategy where the rows hold them all. */
export function tableFields(route: DatasetRoute, format: Format, strategies: readonly string[]): Field[] {
  const { properties } = tablePayload.parse(unnamed(z.toJSONSchema(dataSchema(route), { io: 'output' })))
  return Object.entries(properties).flatMap(([name, column]) =>
    column.additionalProperties === undefined
      ? [toField(name, column, format)]
      : strategies.map(id => toStrategyField(id, name, column)),
  )
}

/** A schema with its named parts in their places: rows have a name of their own in the OpenAPI document. */
const unnamed = ({ $defs = {}, ...schema }: z.core.JSONSchema.BaseSchema): unknown =>
  JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    const { data: ref } = reference.safeParse(value)
    return ref === undefined ? value : unnamed({ $defs, ...$defs[ref.$ref.replace('#/$defs/', '')] })
  })

const reference = z.object({ $ref: z.string() })

function toField(name: string, column: z.infer<typeof property>, format: Format): Field {
  const type = typeOf(name, column, format)
  const unit = type === 'datetime' ? undefined : UNITS[name]
  return {
    name,
    type,
    ...(column.description === undefined ? {} : { description: column.description }),
    ...(unit === undefined ? {} : { unit }),
    constraints: { required: true, ...(column.enum === undefined ? {} : { enum: column.enum }) },
  }
}

/** Not required: a strategy has no value before its inception. */
function toStrategyField(id: string, name: string, { description }: z.infer<typeof property>): Field {
  const unit = UNITS[name]
  return {
    name: id,
    type: 'number',
    ...(description === undefined ? {} : { description }),
    ...(unit === undefined ? {} : { unit }),
  }
}

function typeOf(name: string, { type, format: wireFormat }: z.infer<typeof property>, format: Format) {
  if (wireFormat === 'date') return 'date'
  if (INSTANTS.includes(name)) return format === 'csv' ? 'integer' : 'datetime'
  return type === 'number' ? 'number' : 'string'
}
