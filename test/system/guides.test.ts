// Every snippet of the guides is copied from its page and run with its tool, and prints what the page shows.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freePort } from '#cli/free-port.ts'
import { exampleStrategy, type GuideFacts, type Tool } from '#pages/guides/guide.ts'
import { GUIDES, guidePage } from '#pages/guides/guides.ts'
import { handSnapshot } from '../support/books/hand-snapshot.ts'
import { type Snippet, shownOf, snippetsOf } from '../support/guide-snippets.ts'
import { LAUNCHER, type StartOptions, startProcess } from '../support/history/highwater-process.ts'
import { type ServingProcess, startServing } from '../support/history/history-process.ts'
import { DEBIAN_PYTHON, pandasEnv } from '../support/pandas.ts'
import { startTestRedis } from '../support/servers/redis.ts'
import { push, SECRET, startPullService } from '../support/signals/receiver-kit.ts'
import { fire } from '../support/signals/signals.ts'
import { lastingFolder, writeFiles } from '../support/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')

const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0

let service: ServingProcess
/** Where snippets run: the clients are installed there, and the commands of this checkout are in `bin`. */
let folder: string
let environment: Record<string, string>
const pages = new Map<string, string>()

beforeAll(async () => {
  service = await startServing(inject('tinyStore'))
  folder = await lastingFolder()
  const installed = join(folder, 'node_modules/highwater-client')
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true })
  await cp(join(ROOT, 'clients/typescript/package.json'), join(installed, 'package.json'))
  const built = spawnSync('tsc', [
    '-p',
    join(ROOT, 'clients/typescript'),
    '--outDir',
    join(installed, 'dist'),
  ])
  expect(built.stdout.toString()).toBe('')
  await symlink(join(ROOT, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
  await symlink(join(ROOT, 'examples'), join(folder, 'examples'))
  await mkdir(join(folder, 'bin'))
  await symlink(DEBIAN_PYTHON, join(folder, 'bin/python3'))
  const pandas = existsSync(DEBIAN_PYTHON) ? await pandasEnv() : { PYTHONPATH: '', LD_LIBRARY_PATH: '' }
  environment = {
    ...pandas,
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    PYTHONPATH: `${pandas.PYTHONPATH}:${join(ROOT, 'clients/python')}`,
  }
  for (const { name } of GUIDES) {
    const response = await fetch(`${service.url}/docs/guides/${name}`)
    pages.set(name, await response.text())
  }
})
afterAll(async () => {
  service.kill('SIGTERM')
  await service.ended
})

/** The snippets that there are, before a service runs: those of a book written by hand. */
const LISTED = GUIDES.flatMap(guide => {
  const returns = Array.from({ length: 30 }, (_, i) => (i % 3) / 100 - 0.008)
  const snapshot = handSnapshot([{ id: 'hand', returns }])
  const facts: GuideFacts = {
    base: 'https://data.example.org',
    signals: null,
    snapshot,
    strategy: exampleStrategy(snapshot)!,
  }
  return snippetsOf(guidePage(guide, facts)).map(({ tool, group }) => ({ guide: guide.name, tool, group }))
})

const snippetOf = (guide: string, group: string, tool: Tool): Snippet =>
  snippetsOf(pages.get(guide)!).find(each => each.group === group && each.tool === tool)!

/** Starts a snippet with its tool. */
async function start({ tool, code, group }: Snippet, options: StartOptions = {}) {
  const all = { ...options, cwd: folder, env: { ...environment, ...options.env } }
  if (tool === 'ts') {
    await writeFiles(folder, { 'package.json': '{"type": "module"}', [`${group}.ts`]: code })
    return startProcess(process.execPath, [join(folder, `${group}.ts`)], all)
  }
  if (tool === 'r') return startProcess('Rscript', ['-e', code], all)
  return tool === 'sh'
    ? startProcess('sh', ['-c', `set -eu\n${code}`], all)
    : startProcess(DEBIAN_PYTHON, ['-c', code], all)
}

async function run(snippet: Snippet, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { code, stdout, stderr } = await (await start(snippet, { env })).ended
  expect([code, stderr]).toEqual([0, ''])
  return stdout.replaceAll('\r\n', '\n').trimEnd()
}

/** Why a tool cannot run here, or null. */
function whyNot(tool: Tool): string | null {
  const missing = ['curl', 'jq', 'awk'].find(program => !has('sh', '-c', `command -v ${program}`))
  if (tool === 'sh' && missing !== undefined) return `there is no ${missing} on this machine`
  if (tool === 'r' && !has('Rscript', '--version')) return 'there is no Rscript on this machine'
  const isPython = tool === 'pandas' || tool === 'client'
  return isPython && !existsSync(DEBIAN_PYTHON) ? `there is no ${DEBIAN_PYTHON} on this machine` : null
}

const IN_SHEETS: readonly Tool[] = ['sheets', 'excel']
const OF_HISTORY = LISTED.filter(({ guide }) => guide !== 'webhooks' && guide !== 'publishing')

test.for(OF_HISTORY.filter(({ tool }) => !IN_SHEETS.includes(tool)))(
  '$guide: the snippet $group for $tool prints what the page shows',
  async ({ guide, group, tool }, { skip }) => {
    const why = whyNot(tool)
    if (why !== null) skip(why)
    const snippet = snippetOf(guide, group, tool)
    const isDrawn = has(
      'env',
      `PYTHONPATH=${environment.PYTHONPATH}`,
      DEBIAN_PYTHON,
      '-c',
      'import matplotlib',
    )
    const code = isDrawn ? snippet.code : snippet.code.replace(/^.*# needs matplotlib$/m, '')
    const printed = await run({ ...snippet, code })
    const shown = shownOf(pages.get(guide)!, group)
    if (shown === null) expect(printed).toMatch(/^sharpe|all equal/m)
    else expect(printed).toBe(shown)
  },
)

test.each(OF_HISTORY.filter(({ tool }) => IN_SHEETS.includes(tool)))(
  '$guide: the address of $group in $tool answers the table that the sheet reads',
  async ({ guide, group, tool }) => {
    const { code } = snippetOf(guide, group, tool)
    const [, address = ''] = /"(http[^"]+)"/.exec(code) ?? []
    const response = await fetch(address)
    expect(response.headers.get('content-type')).toMatch(/^text\/csv/)
    const [header = '', first = ''] = (await response.text()).split('\r\n')
    expect(first).toMatch(/^\d{4}-\d\d-\d\d,-?[\d.]+$/)
    for (const [, column = ''] of code.matchAll(/\{"(\w+)", type/g))
      expect(header.split(',')).toContain(column)
  },
)

test('programs in TypeScript compile under strict rules', async () => {
  const programs = GUIDES.flatMap(({ name }) =>
    snippetsOf(pages.get(name)!).flatMap(({ tool, group, code }) =>
      tool === 'ts' ? [[`compiled/${name}-${group}.ts`, code] as const] : [],
    ),
  )
  expect(programs.length).toBeGreaterThan(4)
  await writeFiles(folder, { 'package.json': '{"type": "module"}', ...Object.fromEntries(programs) })
  const options = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', 'node']
  const { stdout } = spawnSync('tsc', [...options, ...programs.map(([path]) => path)], { cwd: folder })
  expect(stdout.toString()).toBe('')
})

describe('webhooks', () => {
  test('the snippets name the client, start receivers that refuse forgeries, register them, and pull the log', async ({
    skip,
  }) => {
    const why = whyNot('sh')
    if (why !== null) skip(why)
    const server = await startTestRedis()
    const redis = await server.connect()
    const signals = await startPullService(redis)
    await fire(redis, 's1', 'alder')
    const env = { HIGHWATER_KEY: signals.token, WEBHOOK_SECRET: SECRET }
    const port = String(await freePort())
    const url = `http://127.0.0.1:${port}/signals`
    const here = (snippet: Snippet): Snippet => ({
      ...snippet,
      code: snippet.code
        .replaceAll('https://signals.example.org', signals.url)
        .replaceAll('hw_live_your_key', signals.token)
        .replaceAll('https://hooks.example.org', `http://127.0.0.1:${port}`)
        .replaceAll('9000', port),
    })
    const all = snippetsOf(pages.get('webhooks')!).map(here)
    const one = (group: string) => all.find(each => each.group === group && each.tool === 'sh')!
    expect(await run(one('key'))).toBe('active')
    for (const snippet of all.filter(({ tool, group }) => group === 'pull' && whyNot(tool) === null))
      expect([snippet.tool, await run(snippet, env)]).toEqual([snippet.tool, '1 alder long'])
    expect(await run(one('register'), env)).toBe(`127.0.0.1:${port}`)
    for (const snippet of all.filter(({ tool, group }) => group === 'receive' && whyNot(tool) === null)) {
      const receiver = await start(snippet, { env })
      await expect.poll(() => fetch(url).then(Boolean, () => false)).toBe(true)
      expect(await push(redis, url, 1, { sentAtMs: Date.now() - 3_600_000 })).toBe(401)
      expect(await push(redis, url, 1)).toBe(204)
      await receiver.prints(/^1 alder long$/m)
      receiver.kill('SIGTERM')
      await receiver.ended
    }
    await signals.close()
    await server.stop()
  })
})

test('publishing: the commands make a book, and it is served with the strategy of the page', async ({
  skip,
}) => {
  const why = whyNot('sh')
  if (why !== null) skip(why)
  const highwater = `#!/bin/sh\nshift\nexec "${process.execPath}" "${LAUNCHER}" "$@"\n`
  await writeFiles(folder, { 'bin/npx': highwater })
  spawnSync('chmod', ['755', join(folder, 'bin/npx')])
  const all = snippetsOf(pages.get('publishing')!)
  const part = (group: string) => all.find(each => each.group === group)!.code
  await run({ tool: 'sh', group: 'init', code: part('init') })
  await writeFiles(folder, { 'book/strategies/oak.ts': part('module') })
  const { code, stdout } = await startProcess('tsc', ['--noEmit', '-p', join(folder, 'book')]).ended
  expect([code, stdout]).toEqual([0, ''])
  const port = String(await freePort())
  const script = `${part('build')}\n${part('read')}\nkill $!`.replaceAll('8090', port)
  const printed = await run({ tool: 'sh', group: 'build', code: script })
  expect(printed.split('\n').at(-1)).toBe(shownOf(pages.get('publishing')!, 'read'))
})
