// Every snippet of the guides is copied from its page and run with its tool, and prints what the page shows.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { GUIDES, type Tool } from '#pages/guides/documents.ts'
import { exampleStrategy, type GuideFacts } from '#pages/guides/guide.ts'
import { guidePage } from '#pages/guides/guides.ts'
import { writeClientTypes } from '../../deploy/client-types.ts'
import { handSnapshot } from '../support/books/hand-snapshot.ts'
import { atEnd } from '../support/ends.ts'
import { LAUNCHER, startProcess } from '../support/history/highwater-process.ts'
import { DEBIAN_PYTHON, pandasEnv } from '../support/pandas.ts'
import { shared } from '../support/runner/shared.ts'
import { ownPort } from '../support/servers/own-port.ts'
import { sharedRedis } from '../support/servers/use-redis.ts'
import { push, SECRET, startPullService } from '../support/signals/receiver-kit.ts'
import { fire } from '../support/signals/signals.ts'
import { lastingFolder, writeFiles } from '../support/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Where snippets run: the clients are installed there, and the commands of this checkout are in `bin`. */
let folder: string
let environment: Record<string, string>
const pages = new Map<string, string>()

beforeAll(async () => {
  const { url } = await shared('history')
  folder = await lastingFolder()
  const installed = join(folder, 'node_modules/highwater-client')
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true })
  const client = join(folder, 'client')
  await cp(join(ROOT, 'clients/typescript'), client, { recursive: true })
  await cp(join(client, 'package.json'), join(installed, 'package.json'))
  await writeClientTypes(client)
  const built = spawnSync('tsc', ['-p', client, '--outDir', join(installed, 'dist')])
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
    const response = await fetch(`${url}/docs/guides/${name}`)
    pages.set(name, await response.text())
  }
})
type Snippet = { readonly tool: Tool; readonly group: string; readonly code: string }

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

const toText = (markup: string): string =>
  markup.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, each => ENTITIES[each]!)

const snippetsOf = (page: string): readonly Snippet[] =>
  [...page.matchAll(/data-tool="(\w+)" data-group="(\w+)"><code>(.*?)<\/code>/gs)].map(
    ([, tool = '', group = '', code = '']) => ({ tool: tool as Tool, group, code: toText(code) }),
  )

/** What the snippets of a group print, as the page shows it; null if it shows nothing. */
function shownOf(page: string, group: string): string | null {
  const [, shown] = new RegExp(`data-prints="${group}"><samp>(.*?)</samp>`, 's').exec(page) ?? []
  return shown === undefined ? null : toText(shown)
}

/** The snippets that there are, before a service runs: those of a book written by hand. */
const LISTED = GUIDES.flatMap(guide => {
  const returns = Array.from({ length: 30 }, (_, i) => (i % 3) / 100 - 0.008)
  const snapshot = handSnapshot([{ id: 'hand', returns }])
  const facts: GuideFacts = {
    base: 'https://data.example.org',
    signals: null,
    dataset: snapshot.dataset,
    strategy: exampleStrategy(snapshot)!,
  }
  return snippetsOf(guidePage(guide, facts)).map(({ tool, group }) => ({ guide: guide.name, tool, group }))
})

const snippetOf = (guide: string, group: string, tool: Tool): Snippet =>
  snippetsOf(pages.get(guide)!).find(each => each.group === group && each.tool === tool)!

/** Starts a snippet with its tool. */
async function start({ tool, code, group }: Snippet, env: Readonly<Record<string, string>> = {}) {
  const all = { cwd: folder, env: { ...environment, ...env } }
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
  const { code, stdout, stderr } = await (await start(snippet, env)).ended
  expect([code, stderr]).toEqual([0, ''])
  return trimmed(stdout)
}

const trimmed = (text: string): string => text.replaceAll('\r\n', '\n').trimEnd()

/** Runs programs one after the other, each without the names of the others: importing pandas takes a second. */
const RUN_ALL = `
import contextlib, importlib.util, io, json, re, sys
printed = []
for code in json.load(open(sys.argv[1])):
    if importlib.util.find_spec('matplotlib') is None:
        code = re.sub(r'(?m)^.*# needs matplotlib$', '', code)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(code, {'__name__': '__main__'})
        except BaseException as error:
            print(repr(error))
    printed.append(out.getvalue())
print(json.dumps(printed))
`

/** What each Python snippet about the history prints. */
async function runPython(): Promise<ReadonlyMap<string, string>> {
  const codes = OF_HISTORY.filter(({ tool }) => IN_PYTHON.includes(tool)).map(
    ({ guide, group, tool }) => snippetOf(guide, group, tool).code,
  )
  await writeFiles(folder, { 'codes.json': JSON.stringify(codes) })
  const printed = await run({
    tool: 'pandas',
    group: '',
    code: RUN_ALL.replace('sys.argv[1]', "'codes.json'"),
  })
  const texts = JSON.parse(printed) as string[] // what the program above prints
  return new Map(codes.map((code, i) => [code, trimmed(texts[i]!)]))
}

let python: ReturnType<typeof runPython> | null = null

async function printedBy(snippet: Snippet): Promise<string | undefined> {
  if (!IN_PYTHON.includes(snippet.tool)) return run(snippet)
  python ??= runPython()
  return (await python).get(snippet.code)
}

const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

const MISSING = new Set(['curl', 'jq', 'awk', 'Rscript', DEBIAN_PYTHON].filter(program => !has(program)))

/** Why a tool cannot run here, or null. */
function whyNot(tool: Tool): string | null {
  const needed = {
    sh: ['curl', 'jq', 'awk'],
    r: ['Rscript'],
    pandas: [DEBIAN_PYTHON],
    client: [DEBIAN_PYTHON],
  }
  const missing = (tool in needed ? needed[tool as keyof typeof needed] : []).find(each => MISSING.has(each))
  return missing === undefined ? null : `there is no ${missing} on this machine`
}

const IN_PYTHON: readonly Tool[] = ['pandas', 'client']
const IN_SHEETS: readonly Tool[] = ['sheets', 'excel']
const OF_HISTORY = LISTED.filter(({ guide }) => guide !== 'webhooks' && guide !== 'publishing')

test.for(OF_HISTORY.filter(({ tool }) => !IN_SHEETS.includes(tool)))(
  'the snippet $group of the guide $guide for $tool prints what the page shows',
  async ({ guide, group, tool }, { skip }) => {
    const why = whyNot(tool)
    if (why !== null) skip(why)
    const printed = await printedBy(snippetOf(guide, group, tool))
    const shown = shownOf(pages.get(guide)!, group)
    if (shown === null) expect(printed).toMatch(/^sharpe|all equal/m)
    else expect(printed).toBe(shown)
  },
)

test.each(OF_HISTORY.filter(({ tool }) => IN_SHEETS.includes(tool)))(
  'the address of $group in the guide $guide for $tool answers the table that the sheet reads',
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

test('every program in TypeScript of the guides compiles under strict rules', async () => {
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

test('the snippets of the guide to webhooks name the client, start receivers that refuse forgeries, register them, and pull the log', async ({
  skip,
}) => {
  const why = whyNot('sh')
  if (why !== null) skip(why)
  const redis = await (await sharedRedis()).connect()
  await redis.flushall()
  const signals = await startPullService(redis)
  atEnd(() => signals.close())
  await fire(redis, 's1', 'alder')
  const env = { HIGHWATER_KEY: signals.token, WEBHOOK_SECRET: SECRET }
  const port = String(await ownPort())
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
  expect([...new Set(all.map(({ group }) => group))]).toEqual(['key', 'receive', 'register', 'pull'])
  // The signal of this test is of alder.
  const shown = (group: string) => shownOf(pages.get('webhooks')!, group)?.replace(/ \w+ /, ' alder ')
  const one = (group: string) => all.find(each => each.group === group && each.tool === 'sh')!
  expect(await run(one('key'))).toBe(shown('key'))
  for (const snippet of all.filter(({ tool, group }) => group === 'pull' && whyNot(tool) === null))
    expect([snippet.tool, await run(snippet, env)]).toEqual([snippet.tool, shown('pull')])
  expect(await run(one('register'), env)).toBe(
    shown('register')!.replace('hooks.example.org', `127.0.0.1:${port}`),
  )
  for (const snippet of all.filter(({ tool, group }) => group === 'receive' && whyNot(tool) === null)) {
    const receiver = await start(snippet, env)
    await expect.poll(() => fetch(url).then(Boolean, () => false)).toBe(true)
    expect(await push(redis, url, 1, { sentAtMs: Date.now() - 3_600_000 })).toBe(401)
    expect(await push(redis, url, 1)).toBe(204)
    await receiver.prints(new RegExp(`^${shown('receive')}$`, 'm'))
    receiver.kill('SIGTERM')
    await receiver.ended
  }
})

test('the commands of the guide to publishing make a book, and it is served with the strategy of the page', async ({
  skip,
}) => {
  const why = whyNot('sh')
  if (why !== null) skip(why)
  const highwater = `#!/bin/sh\nshift\nexec "${process.execPath}" "${LAUNCHER}" "$@"\n`
  await writeFiles(folder, { 'bin/npx': highwater })
  spawnSync('chmod', ['755', join(folder, 'bin/npx')])
  const all = snippetsOf(pages.get('publishing')!)
  expect(all.map(({ group }) => group)).toEqual(['init', 'module', 'build', 'read'])
  const part = (group: string) => all.find(each => each.group === group)!.code
  await run({ tool: 'sh', group: 'init', code: part('init') })
  await writeFiles(folder, { 'book/strategies/oak.ts': part('module') })
  const { code, stdout } = await startProcess('tsc', ['--noEmit', '-p', join(folder, 'book')]).ended
  expect([code, stdout]).toEqual([0, ''])
  const port = String(await ownPort())
  const script = `${part('build')}\n${part('read')}\nkill $!`.replaceAll('8090', port)
  const printed = await run({ tool: 'sh', group: 'build', code: script })
  expect(printed.split('\n').at(-1)).toBe(shownOf(pages.get('publishing')!, 'read'))
})
