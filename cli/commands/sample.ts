import { resolve } from 'node:path'
import type { Command } from 'commander'
import { writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import type { Surroundings } from '../surroundings.ts'

/** `highwater sample DIR`: writes the embedded sample book, for a look at how a whole book is laid out. */
export function defineSample(command: Command, surroundings: Surroundings): void {
  command
    .argument('<dir>', 'an empty or new folder')
    .option('--json', 'print the folder as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater sample ./sample-book')
    .action(async (dir: string, { json = false }: { readonly json?: boolean }) => {
      const folder = resolve(surroundings.cwd, dir)
      await writeSampleBook(folder)
      const terminal = surroundings.terminal
      if (json) terminal.json({ folder })
      else terminal.print(`the sample book is in ${folder}`)
    })
}
