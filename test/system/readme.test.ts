// Every command block of the README, and of the pages for users of the data, pasted into one shell beside `make run`.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { PICTURE, takePicture } from '../../docs/draw-picture.ts'
import { blocksOf, pastedFrom } from '../support/page-blocks.ts'
import { DEBIAN_PYTHON, pandasEnv } from '../support/pandas.ts'
import { createPasting, startProgram } from '../support/pasting-shell.ts'
import { shared } from '../support/runner/shared.ts'
import { ownPort } from '../support/servers/own-port.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')

const ports = new Map<string, string>()
let temporary: string
let paste: ReturnType<typeof createPasting>

/** The text with the ports and folders of this test in place of those that it names. */
const here = (text: string): string =>
  text
    .replaceAll(/\b(?:80\d\d|9000)\b/g, port => ports.get(port) ?? port)
    .replaceAll(/(?:\$PWD\/)?\.data\//g, `${temporary}/data/`)
    .replaceAll(/\.\/(book|sample)\b/g, `${temporary}/$1`)

beforeAll(async () => {
  temporary = await lastingFolder()
  for (const port of ['8080', '8081', '8082', '8090', '9000']) ports.set(port, String(await ownPort()))
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    HISTORY_PORT: ports.get('8080'),
    SIGNALS_PORT: ports.get('8081'),
    OPERATOR_PORT: ports.get('8082'),
    DATA_FOLDER: join(temporary, 'data'),
    BUILD_EFFORT: 'quick', // no page shows the size of a compressed file
  }
  for (const name of ['STORE_URL', 'PRIVATE_STORE_URL', 'ADMIN_PORT']) delete env[name]
  // That the sample book is built where nothing is published, the tests of `highwater run` show.
  const { stores } = await shared('sample')
  for (const [name, url] of [
    ['store', stores.url],
    ['store.private', stores.privateUrl],
  ] as const)
    cpSync(fileURLToPath(url), join(temporary, 'data', name), { recursive: true, preserveTimestamps: true })
  // What is installed stays, however old it is: other tests run from it.
  const make = startProgram('make', ['--old-file=node_modules/.package-lock.json', 'run'], env)
  await make.prints(/Ctrl-C stops everything/)
  paste = createPasting(startProgram('bash', ['-e'], env), here)
})

/** Width and height of a PNG. */
const sizeOf = (path: string): readonly number[] => {
  const header = readFileSync(path)
  return [header.readUInt32BE(16), header.readUInt32BE(20)]
}

const [first, ...rest] = pastedFrom('README.md')

test('the README has at most 130 lines, begins with the command that starts everything, and git ignores what its commands create', () => {
  const read = (name: string) => readFileSync(join(ROOT, name), 'utf8').trimEnd().split('\n')
  expect(read('README.md').length).toBeLessThanOrEqual(130)
  expect(first?.script).toBe('make run\n')
  expect(read('.gitignore')).toEqual(expect.arrayContaining(['/book/', '/sample/', '.data/']))
})

test.for(rest)('the block of the README that begins with $line prints what the page shows', async block => {
  await paste(block)
})

test('the picture of the README has the size of the one that the script takes of the sample book', async () => {
  const path = join(temporary, 'picture.png')
  await takePicture(`http://127.0.0.1:${ports.get('8080')}`, path)
  expect(sizeOf(PICTURE)).toEqual(sizeOf(path))
})

test('the line of the README for pandas makes a table of every day and strategy', async context => {
  if (!existsSync(DEBIAN_PYTHON)) return context.skip(`there is no ${DEBIAN_PYTHON} on this machine`)
  const line = blocksOf('README.md').find(({ language }) => language === 'python')!.text
  const script = `${here(line)}\nprint(returns.shape[1], returns.index.dtype, returns.index[-1].date())`
  const { stdout, stderr } = spawnSync(DEBIAN_PYTHON, ['-c', script], {
    env: { ...process.env, ...(await pandasEnv()) },
    encoding: 'utf8',
  })
  expect([stdout.trim(), stderr]).toEqual(['8 datetime64[ns] 2026-06-30', ''])
})

const OTHERS = ['docs/history-service.md', 'docs/program.md'].flatMap(page => {
  const blocks = pastedFrom(page)
  if (blocks.length === 0) throw new Error(`${page} has no block to paste`)
  return blocks.map(block => ({ page, ...block }))
})

test.for(OTHERS)('the block of $page that begins with $line prints what the page shows', async block => {
  const printed = await paste(block)
  if (block.page === 'docs/history-service.md') expect(printed).toBe(here(block.printed)) // and nothing beside it
})
