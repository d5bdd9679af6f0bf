// Field types that many payloads share.
import { z } from 'zod'

export const text = (about: string) => z.string().describe(about)
export const textOrNull = (about: string) => z.string().nullable().describe(about)
export const number = (about: string) => z.number().describe(about)
export const numberOrNull = (about: string) => z.number().nullable().describe(about)
export const whole = (about: string) => z.int().describe(about)
export const wholeOrNull = (about: string) => z.int().nullable().describe(about)
export const flag = (about: string) => z.boolean().describe(about)

export const word = <const Words extends readonly string[]>(about: string, words: Words) =>
  z.enum(words).describe(about)
export const list = <Item extends z.ZodType>(about: string, item: Item) => z.array(item).describe(about)

export const listIfAny = <Item extends z.ZodType>(about: string, item: Item) =>
  z.array(item).optional().describe(about)

export const byName = <Value extends z.ZodType>(about: string, value: Value) =>
  z.record(z.string(), value).describe(about)

/** An object that has these fields and no others. */
export const object = <Fields extends z.ZodRawShape>(about: string, fields: Fields) =>
  z.object(fields).describe(about)

/** An object, to which later releases may add fields. */
export const record = <Fields extends z.ZodRawShape>(about: string, fields: Fields) =>
  z.looseObject(fields).describe(about)

export const records = <Fields extends z.ZodRawShape>(about: string, fields: Fields) =>
  z.array(z.looseObject(fields)).describe(about)

export const objectOrNull = <Fields extends z.ZodRawShape>(about: string, fields: Fields) =>
  z.object(fields).nullable().describe(about)
export const recordOrNull = <Fields extends z.ZodRawShape>(about: string, fields: Fields) =>
  z.looseObject(fields).nullable().describe(about)
export const recordsOrNull = <Fields extends z.ZodRawShape>(about: string, fields: Fields) =>
  z.array(z.looseObject(fields)).nullable().describe(about)

/** An object that has a name in the OpenAPI document; of a record later releases may have more fields. */
export const namedRecord = <Fields extends z.ZodRawShape>(id: string, fields: Fields) =>
  z.looseObject(fields).meta({ id })
export const named = <Fields extends z.ZodRawShape>(id: string, fields: Fields) =>
  z.object(fields).meta({ id })

/** A body that is sent, with a name: unknown fields are refused. */
export const request = <Fields extends z.ZodRawShape>(id: string, fields: Fields) =>
  z.strictObject(fields).meta({ id })

export const isoDate = (about: string) => z.string().meta({ format: 'date' }).describe(about)
export const percent = (about: string) => z.number().describe(`${about} Percent, 6 decimals.`)
export const ratio = (about: string) => z.number().describe(`${about} 6 decimals.`)
export const fraction = (about: string) => z.number().describe(`${about} A fraction: 0.02 = 2 %.`)
export const strategyId = text('Alias of the strategy. It names a tree or a river, never the mechanism.')

export const dateWindow = (about: string) =>
  record(about, {
    from: isoDate('First UTC day, inclusive.').nullable(),
    to: isoDate('Last UTC day, inclusive.').nullable(),
  })

/** The value that a schema describes, as code that only reads it sees it: without what later releases may add to it. */
export type ValueOf<Schema extends z.ZodType> = ReadonlyDeep<z.output<Schema>>

type ReadonlyDeep<Value> = Value extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : Value extends object
    ? {
        readonly [Key in keyof Value as IsOpen<Key, Value[Key]> extends true ? never : Key]: ReadonlyDeep<
          Value[Key]
        >
      }
    : Value

type IsOpen<Key, Value> = unknown extends Value ? (string extends Key ? true : false) : false
