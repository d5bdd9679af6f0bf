// A command as data: its arguments, its options, what each is for and which text it takes.
import { type Command, Option } from 'commander'
import type { z } from 'zod'
import { type Runtime, UsageError } from '../runtime.ts'
import { text } from '../settings/text.ts'

type Declared<Value> = {
  readonly about: string
  /** What its text is called in the help, such as `<dir>`; empty for an option without one. */
  readonly value: string
  readonly isRequired?: boolean
  readonly read: (text: string, name: string, before: unknown) => Value
}

/** Options by their names, as commander has them: `asOf` is `--as-of`. */
type Shape = Readonly<Record<string, Declared<unknown>>>

export type OptionsOf<Given extends Shape> = {
  readonly [Name in keyof Given]: Given[Name] extends Declared<infer Value> ? Value : never
}

export const flag = (about: string): Declared<boolean | undefined> => ({ about, value: '', read: () => true })

export function option(value: string, about: string): Declared<string | undefined>
export function option<Schema extends z.ZodType>(
  value: string,
  about: string,
  schema: Schema,
): Declared<z.output<Schema> | undefined>
export function option(value: string, about: string, schema: z.ZodType = text): Declared<unknown> {
  return { about, value, read: readerOf(schema) }
}

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

/** Throws a UsageError with what the schema says it expects, or with its description, or with its own message if it has none. */
const readerOf =
  <Schema extends z.ZodType>(schema: Schema) =>
  (text: string, name: string): z.output<Schema> => {
    const { success, data, error } = schema.safeParse(text)
    if (success) return data
    const { description, expected = description } = schema.meta() ?? {}
    throw new UsageError(
      `${name}: ${expected === undefined ? error.issues[0]?.message : `expected ${expected}, got '${text}'`}`,
    )
  }

function addOptions(command: Command, shape: Shape): Command {
  for (const [key, { about, value, isRequired, read }] of Object.entries(shape)) {
    const name = `--${key.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
    const made = new Option(`${name} ${value}`.trimEnd(), about).makeOptionMandatory(isRequired === true)
    made.negate = false // `--no-funding` is a flag of its own
    command.addOption(value === '' ? made : made.argParser((given, before) => read(given, name, before)))
  }
  return command
}

export type Define = (command: Command, runtime: Runtime) => void

export const define =
  <Given extends Shape>(
    options: Given,
    /** What follows the options in the help: more about the command, and examples. */
    help: string,
    run: (options: OptionsOf<Given>, runtime: Runtime, ...args: string[]) => Promise<void> | void,
    /** What its arguments are, by how they are written: `<dir>`, or `[dir]` if it may be left out. */
    args: Readonly<Record<string, string>> = {},
  ): Define =>
  (command, runtime) => {
    for (const [name, about] of Object.entries(args)) command.argument(name, about)
    addOptions(command, options)
      .addHelpText('after', help)
      .action(() => run(command.opts(), runtime, ...command.processedArgs.flat()))
  }

export type Commands = Readonly<Record<string, readonly [about: string, define: Define]>>

/** A command of several, each with what it is for. */
export const group =
  (help: string, commands: Commands): Define =>
  (command, runtime) => {
    command.addHelpText('after', help)
    for (const [name, [about, defineOne]] of Object.entries(commands))
      defineOne(command.command(name).description(about), runtime)
  }
