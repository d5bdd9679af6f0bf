// The launcher is what cron, systemd and npx start. It passes arguments, exit codes and signals on, whichever Node they start
// it with. That the Node which runs the program passes them on too is what every test of a command shows.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { LAUNCHER, startProcess } from '../support/history/highwater-process.ts'
import type { Running } from '../support/processes.ts'
import { temporaryFolder, writeFiles } from '../support/temporary-folder.ts'

/** As in `cli/pinned-node.mjs`, which is plain JavaScript and has no types. */
const REQUIRED_MAJOR = 24

const importing = (code: string): string => `--import=data:text/javascript,${encodeURIComponent(code)}`

/** Lets the launcher believe that its Node is too old to run the program. */
const PRETENDING = importing(
  `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })`,
)

/** A Node that is too old to run the program itself, or one that pretends to be where this machine has none. */
const OLDER = [findOldNode() ?? [process.execPath, PRETENDING]].flat()

type Env = Readonly<Record<string, string>>

const start = ([node = '', ...options]: readonly string[], args: readonly string[], env: Env = {}): Running =>
  startProcess(node, [...options, LAUNCHER, ...args], { env })

test('the launcher passes arguments that a shell would split, output and exit codes on from an older Node', async () => {
  const help = await start(OLDER, ['build', '--help']).ended
  expect(help).toMatchObject({ code: 0, stderr: '' })
  expect(help.stdout).toContain('Usage: highwater build')
  const version = 'to "day" *'
  const misused = await start(OLDER, ['build', '--book', 'book', '--version', version]).ended
  expect(misused).toMatchObject({ code: 2, signal: null, stdout: '' })
  expect(misused.stderr).toContain(`got '${version}'`)
})

test.each([
  ['the Node that runs the program', [process.execPath]],
  ['an older Node', OLDER],
])('the launcher caches compiled modules with %s, and is silent if it cannot', async (_how, node) => {
  const NODE_OPTIONS = importing(
    `import m from 'node:module'; process.on('exit', () => console.error(m.getCompileCacheDir?.()))`,
  )
  const caching = await start(node, ['--version'], { NODE_OPTIONS }).ended
  expect(caching.stderr).toMatch(/node_modules\/\.cache\/compiled\/v\d/)
  const exit = await start(node, ['--version'], { NODE_COMPILE_CACHE: '/dev/null/nowhere' }).ended
  expect(exit).toMatchObject({ code: 0, stderr: '' })
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  'the launcher passes %s on from an older Node and waits for the end',
  async signal => {
    const { url, privateUrl } = inject('tinyStore')
    const env = { STORE_URL: url, PRIVATE_STORE_URL: privateUrl, HISTORY_PORT: '0' }
    const service = start(OLDER, ['serve', 'history'], env)
    const [, address] = await service.prints(/^history service on (http:\/\/\S+)$/m)
    service.kill(signal)
    expect(await service.ended).toMatchObject({ code: 0, signal: null })
    expect(service.printed()).toContain('stopping: running requests end first')
    await expect(fetch(`${address}/healthz`)).rejects.toThrow()
  },
)

/** The launcher alone in a folder. */
async function copyLauncher(): Promise<string> {
  const folder = await temporaryFolder()
  for (const file of ['launcher.mjs', 'pinned-node.mjs'])
    await cp(join(dirname(LAUNCHER), file), join(folder, 'cli', file))
  return folder
}

test('a checkout in which nothing is installed says how to install it', async () => {
  const folder = await copyLauncher()
  await writeFiles(folder, {
    'package.json': '{"type":"module"}',
    'cli/highwater.ts': "import 'commander'\n",
  })
  const exit = await startProcess(process.execPath, [join(folder, 'cli/launcher.mjs'), '--version']).ended
  expect(exit).toMatchObject({
    code: 1,
    stderr: `the packages that highwater needs are not installed in ${folder}: run \`npm ci\` there\n`,
  })
})

test('a pinned Node that cannot be started is reported in one sentence with the remedy', async () => {
  const folder = await copyLauncher()
  const binary = `node_modules/node-${process.platform}-${process.arch}/bin/node`
  await writeFiles(folder, { [binary]: 'not a program, and not executable' })
  const args = [PRETENDING, join(folder, 'cli/launcher.mjs'), '--help']
  const exit = await startProcess(process.execPath, args).ended
  expect(exit).toMatchObject({ code: 1, signal: null, stdout: '' })
  expect(exit.stderr).toMatch(
    /^highwater cannot start the Node that came with its dependencies, .*bin\/node \(.*EACCES\): install .*`npm ci`.*\.\n$/,
  )
})

function findOldNode(): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']
  const candidates = folders.map(folder => join(folder, 'node')).filter(existsSync)
  return candidates.find(isTooOld) ?? null
}

function isTooOld(node: string): boolean {
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  return Number(/^v(\d+)/.exec(stdout)?.[1]) < REQUIRED_MAJOR
}
