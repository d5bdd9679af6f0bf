// The OpenAPI document of each service, and what each must have of what OpenAPI leaves open.
import { z } from 'zod'
import { historyDocument } from '#api/history/routes.ts'
import { operatorDocument } from '#api/operator/routes.ts'
import { signalsDocument } from '#api/signals/routes.ts'

export const openApiDocuments = async () => ({
  history: await historyDocument('https://data.example.org'),
  signals: signalsDocument('https://signals.example.org'),
  operator: operatorDocument(),
})

const said = z.string().min(1)

const parameter = z.looseObject({
  name: z.string(),
  in: z.enum(['path', 'query']),
  required: z.boolean(),
  description: said,
  schema: z.looseObject({
    type: z.string().optional(),
    enum: z.array(z.string()).optional(),
    format: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
  }),
})

const content = z.record(
  z.string(),
  z.looseObject({
    schema: z.looseObject({}),
    examples: z.record(z.string(), z.looseObject({})).optional(),
  }),
)

const response = z.looseObject({
  description: said,
  content: content.optional(),
  headers: z.looseObject({}).optional(),
})

const operation = z.looseObject({
  operationId: z.string(),
  summary: said,
  description: said,
  parameters: z.array(parameter),
  requestBody: z.looseObject({ required: z.boolean(), content }).optional(),
  responses: z.record(z.string(), response),
})

export const openApi = z.looseObject({
  openapi: z.literal('3.1.0'),
  info: z.looseObject({ version: z.string(), description: z.string() }),
  servers: z.array(z.looseObject({ url: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({})),
    examples: z.record(z.string(), z.strictObject({ summary: z.string(), value: z.unknown() })),
  }),
})

export type OpenApi = z.infer<typeof openApi>
export type Operation = z.infer<typeof operation>
export type Parameter = z.infer<typeof parameter>
