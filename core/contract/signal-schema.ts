import { z } from 'zod'
import { SIGNAL_SCHEMA_VERSION, signal } from './signal.ts'

/** The JSON Schema of a signal, for clients that check what they receive: additional properties are allowed. */
export const signalSchema = (publicBaseUrl: string): Readonly<Record<string, unknown>> => {
  const { $schema, ...rest } = z.toJSONSchema(signal, { target: 'draft-2020-12', io: 'output' })
  return {
    $schema,
    $id: `${publicBaseUrl}/v1/signals/schema`,
    title: 'Signal',
    description: `A trade signal, schema_version ${SIGNAL_SCHEMA_VERSION}.`,
    ...rest,
  }
}
