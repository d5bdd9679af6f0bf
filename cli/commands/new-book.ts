import { resolve } from 'node:path'
import type { Command } from 'commander'
import { toEpochDay } from '#core/calendar.ts'
import { writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { writeStarterBook } from '#pipeline/starter/write-starter-book.ts'
import { addOptions, flag } from '../options/option.ts'
import type { Runtime } from '../runtime.ts'

const EXAMPLES = `
Examples:
  highwater init ./book
  highwater check --book ./book
  highwater build --book ./book --store file:///tmp/highwater`

/** `highwater init DIR`: writes a commented starter book. */
export const defineInit = (command: Command, runtime: Runtime): void =>
  defineWriter(command, EXAMPLES, runtime, async folder => {
    await writeStarterBook(folder, toEpochDay(runtime.now()) - 1)
    return `a starter book is in ${folder}: read its README.md, then run \`highwater check\` and \`highwater build\``
  })

/** `highwater sample DIR`: writes the sample book, an example of a whole book. */
export const defineSample = (command: Command, runtime: Runtime): void =>
  defineWriter(command, '\nExample:\n  highwater sample ./sample-book', runtime, async folder => {
    await writeSampleBook(folder)
    return `the sample book is in ${folder}`
  })

/** `write` returns what is printed without --json. */
function defineWriter(
  command: Command,
  examples: string,
  { cwd, terminal }: Runtime,
  write: (folder: string) => Promise<string>,
): void {
  addOptions(command, { json: flag('print the folder as one JSON document') })
    .argument('<dir>', 'an empty or new folder')
    .addHelpText('after', examples)
    .action(async (dir: string, { json = false }: { readonly json?: boolean }) => {
      const folder = resolve(cwd, dir)
      const line = await write(folder)
      if (json) terminal.json({ folder })
      else terminal.print(line)
    })
}
