import { resolve } from 'node:path'
import { toEpochDay } from '#core/calendar.ts'
import { writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { writeStarterBook } from '#pipeline/starter/write-starter-book.ts'
import { define, flag } from '../options/command.ts'
import type { Runtime } from '../runtime.ts'

const EXAMPLES = `
Examples:
  highwater init ./book
  highwater check --book ./book
  highwater build --book ./book --store file:///tmp/highwater`

/** `write` returns what is printed without --json. */
const defineWriter = (help: string, write: (folder: string, runtime: Runtime) => Promise<string>) =>
  define(
    { json: flag('print the folder as one JSON document') },
    help,
    async ({ json }, runtime, dir = '') => {
      const folder = resolve(runtime.cwd, dir)
      runtime.terminal.result(json, { folder }, [await write(folder, runtime)])
    },
    { '<dir>': 'an empty or new folder' },
  )

export const defineInit = defineWriter(EXAMPLES, async (folder, { now }) => {
  await writeStarterBook(folder, toEpochDay(now()) - 1)
  return `a starter book is in ${folder}: read its README.md, then run \`highwater check\` and \`highwater build\``
})

export const defineSample = defineWriter('\nExample:\n  highwater sample ./sample-book', async folder => {
  await writeSampleBook(folder)
  return `the sample book is in ${folder}`
})
