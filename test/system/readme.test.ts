// The README is run as it stands: its commands, and the answers that it shows, to the last character.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ENVIRONMENT_HELP } from '#cli/environment.ts'
import { ROUTES } from '#core/contract/routes.ts'
import { DEBIAN_PYTHON, pandasEnv } from '../support/pandas.ts'

const ROOT = join(import.meta.dirname, '../..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** The fenced blocks of one language, in order. */
const blocks = (language: string): string[] =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(match => match[1]!)

type Example = { readonly command: string; readonly answer: string }

/** What a console block shows: after each `$ ` a command, under it the lines that it prints. */
const examples = (block: string): Example[] =>
  block
    .split(/^\$ /m)
    .filter(part => part !== '')
    .map(part => {
      const [command = '', ...answer] = part.split('\n')
      return { command, answer: answer.join('\n') }
    })

/** CSV ends its lines as RFC 4180 has it; a terminal does not show that. */
const asShown = (output: string): string => output.replaceAll('\r\n', '\n')

const temporary = mkdtempSync(join(tmpdir(), 'highwater-readme-'))
const ENV: NodeJS.ProcessEnv = {
  ...process.env,
  HISTORY_PORT: '0',
  SIGNALS_PORT: '0',
  OPERATOR_PORT: '0',
  DATA_FOLDER: `${temporary}/data`,
  STORE_URL: `file://${temporary}/store`,
}
delete ENV.PRIVATE_STORE_URL

const shell = (command: string, env: NodeJS.ProcessEnv = ENV) =>
  spawnSync('bash', ['-c', command], { cwd: ROOT, env, encoding: 'utf8', timeout: 280_000 })

type Served = {
  readonly url: string
  /** Of the signals service, where the command starts one too. */
  readonly signalsUrl: () => string
  readonly stop: () => Promise<number | null>
}

/** Starts a command that serves, and resolves with its address and what Ctrl-C does in a terminal. */
async function serve(command: string): Promise<Served> {
  const child = spawn('bash', ['-c', `exec ${command}`], {
    cwd: ROOT,
    env: ENV,
    stdio: 'pipe',
    detached: true,
  })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const read = (text: string) => {
      output += text
      const address = /history service on (http:\S+)/.exec(output)?.[1]
      if (address !== undefined) resolve(address)
    }
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', read)
    ended.then(code => reject(new Error(`${command} ended with ${code}: ${output}`)))
  })
  return {
    url,
    signalsUrl: () => /signals service on (http:\S+)/.exec(output)?.[1] ?? 'nowhere',
    stop: () => {
      process.kill(-child.pid!, 'SIGINT')
      return ended
    },
  }
}

afterAll(() => rmSync(temporary, { recursive: true, force: true }))

describe('the first screen', () => {
  const [screen = ''] = blocks('sh')
  let service: Awaited<ReturnType<typeof serve>>
  const here = (text: string) =>
    text
      .replaceAll('http://127.0.0.1:8080', service.url)
      .replaceAll('http://127.0.0.1:8081', service.signalsUrl())
      .replaceAll('.data/', `${temporary}/data/`)
      .replaceAll('./sample', `${temporary}/sample`)

  beforeAll(async () => {
    service = await serve('make run')
  })
  afterAll(async () => {
    await service.stop()
  })

  test('names two commands, which the Makefile has', () => {
    const targets = [...screen.matchAll(/^make (\S+)/gm)].map(match => match[1])
    expect(targets).toEqual(['run', 'test'])
    const help = shell('make help').stdout
    for (const target of targets) expect(help).toContain(`make ${target}`)
  })

  test('shows three requests or more', () => {
    expect(blocks('console').flatMap(examples).length).toBeGreaterThanOrEqual(3)
  })

  test.each(blocks('console').flatMap(examples))('$command answers as shown', async ({ command, answer }) => {
    const ask = () => asShown(shell(here(command)).stdout)
    // What was just published is served within five seconds; a request changes nothing, so it is asked again.
    if (command.startsWith('curl ')) await expect.poll(ask, { timeout: 20_000, interval: 500 }).toBe(answer)
    else expect(ask()).toBe(answer)
  })

  test('the line for pandas makes a table of every day and strategy', async context => {
    if (!existsSync(DEBIAN_PYTHON)) return context.skip(`there is no ${DEBIAN_PYTHON} on this machine`)
    const env = { ...process.env, ...(await pandasEnv()) }
    const check = 'print(returns.shape[1], returns.index.dtype, returns.index[-1].date())'
    const script = `${here(blocks('python')[0]!)}\n${check}`
    const { stdout, stderr } = spawnSync(DEBIAN_PYTHON, ['-c', script], { env, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout.trim()).toBe('8 datetime64[ns] 2026-06-30')
  })
})

describe('your own book', () => {
  const commands = blocks('sh')[1]!.trim().split('\n')
  const here = (text: string) =>
    text.replaceAll('./book', `${temporary}/book`).replaceAll('/tmp/highwater/store', `${temporary}/own`)

  test('the commands make a book, build it, and serve it', async () => {
    const [init = '', build = '', serveOwn = ''] = commands.map(here)
    for (const command of [init, build]) expect(shell(command)).toMatchObject({ status: 0 })
    const service = await serve(`env ${serveOwn}`)
    expect(await (await fetch(`${service.url}/healthz`)).json()).toMatchObject({
      data: { strategy_count: 1 },
    })
    await service.stop()
  })

  test('the module that is shown has the types that the book brings, and builds', () => {
    writeFileSync(join(temporary, 'book/strategies/oak.ts'), blocks('ts')[0]!)
    expect(shell(`node_modules/.bin/tsc --noEmit --project ${temporary}/book`).stdout).toBe('')
    // Another module is another history: it has a store of its own.
    const build = here(commands[1]!).replace('/own', '/other')
    expect(shell(`${build} --json`)).toMatchObject({ status: 0 })
  })

  test('every option in the text is one of the command', () => {
    const help = shell('npx highwater build --help').stdout
    const options = new Set([...README.matchAll(/`(--[a-z-]+)/g)].map(match => match[1]!))
    expect(options.size).toBeGreaterThan(0)
    for (const option of options) expect(help).toContain(option)
  })
})

test('every path of the text exists', () => {
  const linked = [...README.matchAll(/\]\((?!http)([^)]+)\)/g)].map(match => match[1]!)
  const named = [...README.matchAll(/`((?:core|pipeline|static-build|api)\/[^`]*)`/g)].map(match => match[1]!)
  expect([...linked, ...named].length).toBeGreaterThan(5)
  for (const target of [...linked, ...named]) {
    const [path = '', heading] = target.split('#')
    expect(shell(`test -e ${path}`).status, path).toBe(0)
    if (heading === undefined) continue
    const headings = [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^#+ (.+)$/gm)]
    expect(headings.map(([, text = '']) => text.toLowerCase().replaceAll(' ', '-'))).toContain(heading)
  }
})

test('the tables name every endpoint and every setting, and the text counts the endpoints', () => {
  for (const { path } of ROUTES) expect(README).toContain(`\`${path}\``)
  const numbers = ['Twelve', 'Thirteen', 'Fourteen', 'Fifteen', 'Sixteen']
  const counted = /^(\w+) read-only endpoints/m.exec(README)?.[1] ?? 'no number'
  expect([counted, numbers.indexOf(counted) + 12]).toEqual([counted, ROUTES.length])
  const settings = [...ENVIRONMENT_HELP.matchAll(/^ *([A-Z][A-Z0-9_]+)/gm)].map(match => match[1]!)
  expect(settings.length).toBeGreaterThan(5)
  for (const setting of settings) expect(README).toContain(`\`${setting}\``)
})
