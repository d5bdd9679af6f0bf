// Every command block of the README, and of the pages for users of the data, pasted into one shell beside `make run`.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '#cli/free-port.ts'
import { PICTURE, takePicture } from '../../docs/draw-picture.ts'
import { blocksOf, pastedFrom } from '../support/page-blocks.ts'
import { DEBIAN_PYTHON, pandasEnv } from '../support/pandas.ts'
import { createPasting, type Running, startProgram } from '../support/pasting-shell.ts'

const ROOT = join(import.meta.dirname, '../..')

const temporary = mkdtempSync(join(tmpdir(), 'highwater-readme-'))
const ports = new Map<string, string>()
let env: NodeJS.ProcessEnv
let service: Running | undefined
let shell: Running | undefined
let paste: ReturnType<typeof createPasting>

/** The text with the ports and folders of this test in place of those that it names. */
const here = (text: string): string =>
  text
    .replaceAll(/\b(?:80\d\d|9000)\b/g, port => ports.get(port) ?? port)
    .replaceAll(/(?:\$PWD\/)?\.data\//g, `${temporary}/data/`)
    .replaceAll(/\.\/(book|sample)\b/g, `${temporary}/$1`)

beforeAll(async () => {
  for (const port of ['8080', '8081', '8082', '8090', '9000']) ports.set(port, String(await freePort()))
  env = {
    ...process.env,
    HISTORY_PORT: ports.get('8080'),
    SIGNALS_PORT: ports.get('8081'),
    OPERATOR_PORT: ports.get('8082'),
    DATA_FOLDER: join(temporary, 'data'),
  }
  for (const name of ['STORE_URL', 'PRIVATE_STORE_URL', 'ADMIN_PORT']) delete env[name]
  service = startProgram('make', ['run'], env)
  await service.until(output => output.includes('Ctrl-C stops everything'))
  shell = startProgram('bash', ['-e'], env)
  paste = createPasting(shell, here)
})

afterAll(async () => {
  for (const running of [shell, service]) await running?.end()
  rmSync(temporary, { recursive: true, force: true })
})

/** Width and height of a PNG. */
const sizeOf = (path: string): readonly number[] => {
  const header = readFileSync(path)
  return [header.readUInt32BE(16), header.readUInt32BE(20)]
}

describe('README.md', () => {
  const [first, ...rest] = pastedFrom('README.md')

  test('has at most 120 lines', () => {
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(
      120,
    )
  })

  test('begins with the command that starts everything', () => {
    expect(first?.script).toBe('make run\n')
  })

  test.for(rest)('the block that begins with $script prints what the page shows', block => paste(block))

  test('git, and with it lint, ignores what its commands create in the checkout', () => {
    const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n')
    expect(ignored).toEqual(expect.arrayContaining(['/book/', '/sample/', '.data/']))
  })

  test('the picture has the size of the one that the script takes of the sample book', async () => {
    const path = join(temporary, 'picture.png')
    await takePicture(`http://127.0.0.1:${ports.get('8080')}`, path)
    expect(sizeOf(PICTURE)).toEqual(sizeOf(path))
  })

  test('the line for pandas makes a table of every day and strategy', async context => {
    if (!existsSync(DEBIAN_PYTHON)) return context.skip(`there is no ${DEBIAN_PYTHON} on this machine`)
    const line = blocksOf('README.md').find(({ language }) => language === 'python')!.text
    const script = `${here(line)}\nprint(returns.shape[1], returns.index.dtype, returns.index[-1].date())`
    const { stdout, stderr } = spawnSync(DEBIAN_PYTHON, ['-c', script], {
      env: { ...process.env, ...(await pandasEnv()) },
      encoding: 'utf8',
    })
    expect([stdout.trim(), stderr]).toEqual(['8 datetime64[ns] 2026-06-30', ''])
  })
})

describe.each(['docs/history-service.md', 'docs/program.md'])('%s', page => {
  test.for(pastedFrom(page))('the block that begins with $script prints what the page shows', block =>
    paste(block),
  )

  test('has such blocks', () => {
    expect(pastedFrom(page).length).toBeGreaterThan(0)
  })
})
