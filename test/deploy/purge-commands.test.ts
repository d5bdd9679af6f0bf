// The purge commands that docs/cdn.md gives for other CDNs, run as they stand with stand-ins for the tools that they call.
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { purge } from '#cli/cdn.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const DOCS = join(import.meta.dirname, '../../docs/cdn.md')

const DUE = {
  seq: 3,
  version: '2025-02-26T00:15:00Z',
  outdated: ['2025-02-25T00:15:00Z', '2025-02-24T00:15:00Z'],
}

/** What is called, and with which arguments: those that come one after the other somewhere among them. */
const EXPECTED: readonly (readonly [tool: string, ...args: string[]])[] = [
  ['aws', '--distribution-id', 'the-id', '--paths', '#v-20250225T001500Z', '#v-20250224T001500Z'],
  ['curl', '--json', '{"tags":["v-20250225T001500Z","v-20250224T001500Z"]}'],
  ['curl', '-H', 'Surrogate-Key: v-20250225T001500Z v-20250224T001500Z'],
]

const commands = [...(await readFile(DOCS, 'utf8')).matchAll(/^CDN_PURGE_COMMAND='(.*)'$/gm)].map(
  match => match[1]!,
)

test('each of three CDNs has a command', () => {
  expect(commands.length).toBe(EXPECTED.length)
})

test.each(EXPECTED.map((expected, i) => [commands[i] ?? '', expected] as const))(
  '%s calls its tool with every tag that is due',
  async (purgeCommand, [tool, ...args]) => {
    const folder = await temporaryFolder()
    const called = join(folder, 'called')
    for (const name of ['aws', 'curl']) {
      await writeFile(join(folder, name), `#!/bin/sh\nprintf '%s\\n' ${name} "$@" > '${called}'\n`)
      await chmod(join(folder, name), 0o755)
    }
    const env = {
      PATH: `${folder}:${process.env.PATH}`,
      DISTRIBUTION: 'the-id',
      ZONE: 'z',
      SERVICE: 's',
      TOKEN: 't',
    }
    await purge({ purgeUrls: [], purgeCommand, urls: [] }, DUE, env)
    const words = (await readFile(called, 'utf8')).trimEnd().split('\n')
    expect(words[0]).toBe(tool)
    expect(words.join('\n')).toContain(args.join('\n'))
  },
)
