// The launcher is what cron, systemd and npx start. It passes arguments, exit codes and signals on, whichever Node
// they start it with.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { LAUNCHER, startProcess } from '../support/history/highwater-process.ts'
import type { Running } from '../support/processes.ts'
import { lastingFolder, writeFiles } from '../support/temporary-folder.ts'

/** As in `cli/pinned-node.mjs`, which is plain JavaScript and has no types. */
const REQUIRED_MAJOR = 24

/** A Node on this machine that is too old to run the program itself, or null. */
const oldNode = findOldNode()

type Launcher = readonly [how: string, node: string | null]

const LAUNCHERS: readonly Launcher[] = [
  ['the Node that runs the program', process.execPath],
  [`an older Node${oldNode === null ? ' (skipped: this machine has none)' : ''}`, oldNode],
]

for (const [how, node] of LAUNCHERS) {
  describe.skipIf(node === null)(`the launcher, started with ${how},`, () => {
    const start = (args: readonly string[], env: Record<string, string> = {}): Running =>
      startProcess(node ?? '', [LAUNCHER, ...args], { env })

    test('passes arguments and output on', async () => {
      const exit = await start(['build', '--help']).ended
      expect(exit).toMatchObject({ code: 0, stderr: '' })
      expect(exit.stdout).toContain('Usage: highwater build')
    })

    test('starts if compiled modules cannot be cached, and prints nothing about it', async () => {
      const exit = await start(['--version'], { NODE_COMPILE_CACHE: '/dev/null/nowhere' }).ended
      expect(exit).toMatchObject({ code: 0, stderr: '' })
    })

    test('caches compiled modules for the next start', async () => {
      const printsFolder = `import m from 'node:module'; process.on('exit', () => console.error(m.getCompileCacheDir?.()))`
      const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(printsFolder)}`
      const exit = await start(['--version'], { NODE_OPTIONS }).ended
      expect(exit.stderr).toMatch(/node_modules\/\.cache\/compiled\/v\d/)
    })

    test('passes exit codes on, and arguments that a shell would split', async () => {
      const [book, STORE_URL] = ['no such "book" *', inject('tinyStore').url]
      const failed = await start(['build', '--book', book], { STORE_URL }).ended
      expect(failed).toMatchObject({ code: 1, signal: null, stdout: '' })
      expect(failed.stderr).toContain(book)
      const misused = await start(['build', '--book', book, '--version', 'to day'], { STORE_URL }).ended
      expect(misused).toMatchObject({ code: 2, signal: null, stdout: '' })
      expect(misused.stderr).toContain("got 'to day'")
    })

    test.each(['SIGTERM', 'SIGINT'] as const)('passes %s on and waits for the end', async signal => {
      const { url, privateUrl } = inject('tinyStore')
      const env = { STORE_URL: url, PRIVATE_STORE_URL: privateUrl, HISTORY_PORT: '0' }
      const service = start(['serve', 'history'], env)
      const [, address] = await service.prints(/^history service on (http:\/\/\S+)$/m)
      service.kill(signal)
      expect(await service.ended).toMatchObject({ code: 0, signal: null })
      expect(service.printed()).toContain('stopping: running requests end first')
      await expect(fetch(`${address}/healthz`)).rejects.toThrow()
    })
  })
}

test('a checkout in which nothing is installed says how to install it', async () => {
  const folder = await lastingFolder()
  for (const file of ['launcher.mjs', 'pinned-node.mjs'])
    await cp(join(dirname(LAUNCHER), file), join(folder, 'cli', file))
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
  const folder = await lastingFolder()
  const files = ['launcher.mjs', 'pinned-node.mjs']
  for (const file of files) await cp(join(dirname(LAUNCHER), file), join(folder, 'cli', file))
  const binary = `node_modules/node-${process.platform}-${process.arch}/bin/node`
  await writeFiles(folder, { [binary]: 'not a program, and not executable' })
  // The launcher believes to run on a Node that is too old to run the program itself.
  const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })`
  const exit = await startProcess(process.execPath, [
    ...['--import', `data:text/javascript,${encodeURIComponent(older)}`],
    ...[join(folder, 'cli/launcher.mjs'), '--help'],
  ]).ended
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
