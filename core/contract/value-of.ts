import type { z } from 'zod'

/** The value that a schema describes, as code that only reads it sees it. */
export type ValueOf<Schema extends z.ZodType> = ReadonlyDeep<z.output<Schema>>

type ReadonlyDeep<Value> = Value extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> }
    : Value
