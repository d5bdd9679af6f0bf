// The options of commands as data: what each is for, and which text it takes.
import { type Command, Option } from 'commander'
import type { z } from 'zod'
import { readerOf, text } from '../settings/text.ts'

type Declared<Value> = {
  readonly about: string
  /** What its text is called in the help, such as `<dir>`; empty for an option without one. */
  readonly value: string
  readonly isRequired?: boolean
  readonly read: (text: string, name: string, before: unknown) => Value
}

/** Options by their names, as commander has them: `asOf` is `--as-of`. */
export type Shape = Readonly<Record<string, Declared<unknown>>>

/** What a command gets of its options. */
export type OptionsOf<Given extends Shape> = {
  readonly [Name in keyof Given]: Given[Name] extends Declared<infer Value> ? Value : never
}

export const flag = (about: string): Declared<boolean | undefined> => ({ about, value: '', read: () => true })

export const option = <Schema extends z.ZodType>(
  value: string,
  about: string,
  schema: Schema,
): Declared<z.output<Schema> | undefined> => ({ about, value, read: readerOf(schema) })

export const required = <Schema extends z.ZodType>(
  value: string,
  about: string,
  schema: Schema,
): Declared<z.output<Schema>> => ({ about, value, read: readerOf(schema), isRequired: true })

/** An option that may be repeated; not a variadic one, which would take the argument that follows it. */
export const repeated = (
  value: string,
  about: string,
  schema = text,
): Declared<readonly string[] | undefined> => ({
  about,
  value,
  read: (given, name, before = []) => [
    ...(before as readonly string[]), // what it returned before
    readerOf(schema)(given, name),
  ],
})

export function addOptions(command: Command, shape: Shape): Command {
  for (const [key, { about, value, isRequired, read }] of Object.entries(shape)) {
    const name = `--${key.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
    const made = new Option(`${name} ${value}`.trimEnd(), about).makeOptionMandatory(isRequired === true)
    command.addOption(value === '' ? made : made.argParser((given, before) => read(given, name, before)))
  }
  return command
}
