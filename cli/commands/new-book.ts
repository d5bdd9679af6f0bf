import { resolve } from 'node:path'
import type { Command } from 'commander'
import { toEpochDay } from '#core/calendar.ts'
import { writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { writeStarterBook } from '#pipeline/starter/write-starter-book.ts'
import type { Runtime } from '../runtime.ts'

const EXAMPLES = `
Examples:
  highwater init ./book
  highwater check --book ./book
  highwater build --book ./book --store file:///tmp/highwater`

/** `highwater init DIR`: writes a commented starter book. */
export function defineInit(command: Command, runtime: Runtime): void {
  command
    .argument('<dir>', 'an empty or new folder')
    .option('--json', 'print the folder as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (dir: string, { json = false }: { readonly json?: boolean }) => {
      const folder = resolve(runtime.cwd, dir)
      await writeStarterBook(folder, toEpochDay(runtime.now()) - 1)
      const terminal = runtime.terminal
      if (json) terminal.json({ folder })
      else
        terminal.print(
          `a starter book is in ${folder}: read its README.md, then run \`highwater check\` and \`highwater build\``,
        )
    })
}

/** `highwater sample DIR`: writes the sample book, an example of a whole book. */
export function defineSample(command: Command, runtime: Runtime): void {
  command
    .argument('<dir>', 'an empty or new folder')
    .option('--json', 'print the folder as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater sample ./sample-book')
    .action(async (dir: string, { json = false }: { readonly json?: boolean }) => {
      const folder = resolve(runtime.cwd, dir)
      await writeSampleBook(folder)
      const terminal = runtime.terminal
      if (json) terminal.json({ folder })
      else terminal.print(`the sample book is in ${folder}`)
    })
}
