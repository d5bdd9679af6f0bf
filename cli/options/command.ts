import type { Command } from 'commander'
import type { Runtime } from '../runtime.ts'
import { addOptions, type OptionsOf, type Shape } from './option.ts'

/** Gives a command its arguments, its options and its action. */
export type Define = (command: Command, runtime: Runtime) => void

/** A command as data, and what it does. */
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
      .action(() => run(command.opts(), runtime, ...(command.processedArgs as string[]))) // none is variadic
  }
