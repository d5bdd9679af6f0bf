import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { threadsFor } from '#cli/options/build-options.ts'
import { calledCommand } from '#cli/program.ts'
import { EXIT } from '#cli/runtime.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { run } from './made-up.ts'

/** Every command and every group of them, the whole included, as its words: found in the help texts themselves. */
async function commandsUnder(words: readonly string[]): Promise<string[][]> {
  const { out } = await run([...words, '--help'])
  const section = /^Commands:\n((?: {2}.*\n?)*)/m.exec(out)?.[1] ?? ''
  const names = [...section.matchAll(/^ {2}([a-z][a-z-]*)/gm)]
    .map(match => match[1]!)
    .filter(name => name !== 'help')
  const below = await Promise.all(names.map(name => commandsUnder([...words, name])))
  return [[...words], ...below.flat()]
}

test('--help of every command goes to stdout, exits 0 and has an example of that very command', async () => {
  const commands = await commandsUnder([])
  expect(commands.map(words => words.join(' '))).toEqual(
    expect.arrayContaining(['run', 'init', 'build', 'serve history', 'sample', 'ops', 'ops keys']),
  )
  for (const words of commands) {
    const { code, out, err } = await run([...words, '--help'])
    const name = words.join(' ')
    expect([name, code, err]).toEqual([name, 0, ''])
    expect(out).toMatch(new RegExp(`\\nExamples?:\\n(.*\\n)*?  .*highwater ${name}`))
  }
})

test('--help of the program explains every exit code, and lists every variable of the environment', async () => {
  const { code, out } = await run(['--help'])
  expect(code).toBe(0)
  const [, section = ''] = /^Exit codes:\n((?: {2}.*\n)+)/m.exec(out) ?? []
  const codes = [...section.matchAll(/^ {2}(\d) {2}\S.{3}/gm)].map(([, code]) => Number(code))
  expect(codes).toEqual(Object.values(EXIT))
  for (const name of ['STORE_URL', 'PRIVATE_STORE_URL', 'HOST', 'HISTORY_PORT', 'SUNSET_AT'])
    expect(out).toContain(`  ${name} `)
})

test.each([
  [['build', '--book', 'run'], 'build'],
  [['--help', 'ops', 'clients', 'add', 'build'], 'ops'],
  [['help', 'serve'], 'serve'],
  [['--version'], undefined],
  [[], undefined],
])('the arguments %j load the command %s and no other', (args, command) => {
  expect(calledCommand(args)).toBe(command)
})

test.each(casesOf<[string[], string | RegExp]>`
${[]} -> ${/^Usage: highwater /}
${['bild']} -> ${/^error: unknown command 'bild'\n\(Did you mean build\?\)/}
${['build']} -> ${/^error: required option '--book <dir>' not specified/}
${['build', '--book', 'x', '--nonsense']} -> ${/^error: unknown option '--nonsense'/}
${['build', '--book']} -> ${/^error: option '--book <dir>' argument missing/}
${['init']} -> ${/^error: missing required argument 'dir'/}
${['build', '--book', 'x', '--version', 'tomorrow']} -> ${"highwater: --version: expected an instant such as 2026-11-21T00:15:00Z, got 'tomorrow'\n"}
${['build', '--book', 'x', '--as-of', '2026-02-30']} -> ${"highwater: --as-of: expected a date such as 2026-06-30, got '2026-02-30'\n"}
${['build', '--book', 'x', '--threads', '65']} -> ${"highwater: --threads: expected a whole number from 1 to 64, got '65'\n"}
${['build', '--book', 'x', '--effort', 'most']} -> ${"highwater: --effort: expected best, good, quick, got 'most'\n"}
${['build', '--book', 'x', '--threads', '']} -> ${"highwater: --threads: expected a whole number from 1 to 64, got ''\n"}
${['build', '--book', '.', '--run', 'a', '--fleet-wait', 'x']} -> ${/--fleet-wait: expected seconds from 0 to 86400/}
${['worker']} -> ${/expected --fleet with the address of a Redis, or --run and --share/}
${['worker', '--run', 'a']} -> ${/--run and --share are used together/}
${['worker', '--run', 'a/b', '--share', '1/2']} -> ${/--run: expected up to 64 letters, digits, '\.', '_' and '-', got 'a\/b'/}
${['worker', '--run', 'a', '--share', '3/2']} -> ${/--share: expected k\/n such as 3\/8, with k from 1 to n/}
${['worker', '--fleet', 'http://a']} -> ${/--fleet: expected the address of a Redis/}
${['worker', '--run', 'a', '--share', '1/2', '--metrics-port', '70000']} -> ${/--metrics-port: expected a port from 0 to 65535, got '70000'/}`)(
  'the wrong call %j exits 2, prints nothing and says in a sentence what was expected',
  async (args, message) => {
    const { code, out, err } = await run(args)
    expect([code, out]).toEqual([2, ''])
    if (typeof message === 'string') expect(err).toBe(message)
    else expect(err).toMatch(message)
  },
)

test.each(['foo', 's3://B', 'ftp://host/x', ''])(
  'a store such as %j is refused in every option and in STORE_URL',
  async url => {
    for (const option of ['--store', '--private-store']) {
      const { code, err } = await run(['verify-store', option, url])
      expect([code, err]).toEqual([2, expect.stringContaining('not a store: ')])
    }
    if (url === '') return // an empty variable counts as unset
    for (const name of ['STORE_URL', 'PRIVATE_STORE_URL']) {
      const { code, err } = await run(['verify-store'], { env: { [name]: url } })
      expect([code, err]).toEqual([2, expect.stringContaining(`${name}: expected a store`)])
    }
  },
)

test.each(['build --book x', 'serve history', 'serve signals', 'serve all', 'run'])(
  'highwater %s reports every fault of the environment in one message',
  async words => {
    const { code, out, err } = await run(words.split(' '), {
      env: { HISTORY_PORT: 'http', SUNSET_AT: 'soon' },
    })
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^highwater: invalid environment:\n {2}HISTORY_PORT: .*\n {2}SUNSET_AT: .*\n$/)
  },
)

test.each(['init', 'sample'])(
  '%s with --json prints one document with the folder, and leaves one alone that has something in it',
  async command => {
    const cwd = await temporaryFolder()
    const { code, out, err } = await run([command, 'book', '--json'], { cwd })
    expect([code, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toEqual({ folder: join(cwd, 'book') })
    await writeFiles(cwd, { 'mine/catalogue.yaml': 'mine' })
    const refused = await run([command, 'mine'], { cwd })
    expect(refused).toMatchObject({ code: 1, out: '' })
    const folder = join(cwd, 'mine')
    expect(refused.err).toContain(`expected an empty or new folder, got ${folder} with catalogue.yaml in it`)
    expect(await readdir(folder)).toEqual(['catalogue.yaml'])
    expect(await readFile(join(folder, 'catalogue.yaml'), 'utf8')).toBe('mine')
  },
)

test.each(['build --book book', 'serve history', 'serve signals', 'serve all', 'run'])(
  'highwater %s refuses stores that overlap, before it reads, serves or writes anything',
  async words => {
    const cwd = await temporaryFolder()
    const STORE_URL = pathToFileURL(join(cwd, 'store')).href
    const env = { STORE_URL, PRIVATE_STORE_URL: `${STORE_URL}/private`, HISTORY_PORT: '0' }
    const { code, out, err } = await run(words.split(' '), { cwd, env })
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('overlap, so private files would be served')
    expect(await readdir(cwd)).toEqual([])
  },
)

test('a build has a thread for each core, up to as many as it has use for', () => {
  expect([1, 64, 256].map(threadsFor)).toEqual([1, 64, 64])
})

test('a worker whose build never begins says how to begin it', async () => {
  const url = `file://${join(await temporaryFolder(), 'store')}`
  const stores = ['--store', url, '--private-store', `${url}.private`]
  const { code, err } = await run(['worker', ...stores, '--run', 'night', '--share', '1/2', '--wait', '0'])
  expect(code).toBe(1)
  expect(err).toContain('no build has begun the run night (compute) in')
  expect(err).toContain('start `highwater build --run night` on the same stores')
})

// Not even root may write there.
const WRITERS = ['init /sys/book', 'keys new /sys/key', 'nginx /sys/nginx', 'serve signals']
test.each(WRITERS)('`highwater %s` says what to do about a read-only folder', async command => {
  const { err } = await run(command.split(' '), { env: { DATA_FOLDER: '/sys/data' } })
  expect(err).toMatch(/^highwater: E\w+: .* '\/sys\/.*; (the disk of|give the user .* in) \/sys\/.*\n$/)
})
