// CDN_PURGE_COMMAND: the ones in docs/cdn.md, run with stand-ins for the programs that they call, and what becomes of one.
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, inject, test } from 'vitest'
import { followPointer } from '#cli/build/follow-pointer.ts'
import { parseEnvironment } from '#cli/settings/environment.ts'
import { openStore } from '#storage/open-store.ts'
import { TINY_VERSION } from '#test/support/books/publish-book.ts'
import { pointAt } from '#test/support/history/point-to.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { madeUp } from '../cli/made-up.ts'

const DOCS = join(import.meta.dirname, '../../docs/cdn.md')

const OTHER_VERSION = '2025-02-25T00:15:00Z'
const NO_MANIFEST = '0'.repeat(64)

/** The program of each command, and arguments that follow one another among those that it gets. */
const EXPECTED: readonly (readonly [cdn: string, tool: string, ...args: string[]])[] = [
  ['Varnish', 'curl', '-X', 'PURGE', '-H', 'xkey: v-20250225T001500Z'],
  ['CloudFront', 'aws', '--distribution-id', 'the-id', '--paths', '#v-20250225T001500Z'],
  ['Cloudflare', 'curl', '--json', '{"tags":["v-20250225T001500Z"]}'],
  ['Fastly', 'curl', '-H', 'Surrogate-Key: v-20250225T001500Z'],
]

const commands = [...(await readFile(DOCS, 'utf8')).matchAll(/^CDN_PURGE_COMMAND='(.*)'$/gm)].map(
  match => match[1]!,
)

/** A store whose pointer went to another version and came back. */
async function movedStore() {
  const url = pathToFileURL(await temporaryFolder()).href
  const store = await openStore(url)
  for (const version of [TINY_VERSION, OTHER_VERSION, TINY_VERSION])
    await pointAt(store, version, NO_MANIFEST, TINY_VERSION)
  return { url, store }
}

/** Follows the pointer of a store; returns what was printed on stderr and how long it paused. */
async function follow(storeUrl: string, env: NodeJS.ProcessEnv) {
  const pauses: number[] = []
  const pause = async (ms: number): Promise<void> => void pauses.push(ms)
  const { runtime, err } = madeUp({ env, pause })
  await followPointer(parseEnvironment({ ...env, STORE_URL: storeUrl }, '/srv'), runtime)
  return { notes: err(), pauses }
}

test('docs/cdn.md has a purge command for each of four CDNs', () => {
  expect(commands.length).toBe(EXPECTED.length)
})

test.each(EXPECTED.map(([cdn, ...called], i) => [cdn, commands[i] ?? '', called] as const))(
  'the purge command of %s calls its program with the tag of the version before',
  async (_cdn, command, [tool, ...args]) => {
    const { url } = await movedStore()
    const folder = await temporaryFolder()
    const called = join(folder, 'called')
    for (const name of ['aws', 'curl']) {
      await writeFile(join(folder, name), `#!/bin/sh\nprintf '%s\\n' ${name} "$@" > '${called}'\n`)
      await chmod(join(folder, name), 0o755)
    }
    const { notes } = await follow(url, {
      PATH: `${folder}:${process.env.PATH}`,
      CDN_PURGE_COMMAND: command,
      DISTRIBUTION: 'the-id',
      ZONE: 'z',
      SERVICE: 's',
      TOKEN: 't',
    })
    expect(notes).toBe(`purged: ${OTHER_VERSION}\n`)
    const words = (await readFile(called, 'utf8')).trimEnd().split('\n')
    expect(words[0]).toBe(tool)
    expect(words.join('\n')).toContain(args.join('\n'))
  },
)

test('the purge after a publication waits until every tier has looked at the pointer', async () => {
  const { url } = await movedStore()
  expect((await follow(url, { CDN_PURGE_COMMAND: 'true' })).pauses).toEqual([6_000])
})

test('a purge that fails is a warning, without the command and without what it printed', async () => {
  const { url } = await movedStore()
  const command = 'echo token-in-output >&2; : token-in-command; exit 7'
  expect((await follow(url, { CDN_PURGE_COMMAND: command })).notes).toBe(
    'warning: caches may serve an older version for two minutes: CDN_PURGE_COMMAND ended with 7; run it by hand to see ' +
      'its output\n',
  )
})

test('nothing is purged without a command, after the first version, and after a refresh', async () => {
  const { url, store } = await movedStore()
  expect((await follow(url, {})).notes).toBe('')
  const first = inject('tinyStore').url
  expect((await follow(first, { CDN_PURGE_COMMAND: 'false' })).notes).toBe('')
  await pointAt(store, TINY_VERSION, NO_MANIFEST)
  expect((await follow(url, { CDN_PURGE_COMMAND: 'false' })).notes).toBe('')
})
