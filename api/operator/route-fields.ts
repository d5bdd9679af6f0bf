// The fields of a query or a body as its schema describes them: the options of a command, and the inputs of a form.
import { z } from 'zod'
import type { Query } from '#core/contract/route.ts'

const field = z.looseObject({
  type: z.string().catch('string'), // or several, one of which is null
  description: z.string().default(''),
  default: z.unknown().optional(),
  format: z.string().optional(),
  enum: z.array(z.string()).optional(),
})

const objectSchema = z.object({
  properties: z.record(z.string(), field),
  required: z.array(z.string()).default([]),
})

export type RouteField = ReturnType<typeof fieldsOf>[number]

export function fieldsOf(of: Query | z.ZodType | undefined) {
  if (!(of instanceof z.ZodObject)) return []
  const { properties, required } = objectSchema.parse(z.toJSONSchema(of.clone().meta({}), { io: 'input' }))
  return Object.entries(properties).map(
    ([name, { type, description, default: initial, format, enum: listed }]) => {
      return { name, type, description, initial, format, listed, isRequired: required.includes(name) }
    },
  )
}
