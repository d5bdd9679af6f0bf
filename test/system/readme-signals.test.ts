// The five commands of the README that take a new operator from nothing to a verified delivery, as they stand there.
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { freePort } from '#cli/free-port.ts'
import { SIGNALS_ROUTES } from '#core/contract/signals-routes.ts'

const ROOT = join(import.meta.dirname, '../..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** The block of the section on live signals, a command a line. */
const COMMANDS = /## Live signals[\s\S]*?```sh\n([\s\S]*?)```/.exec(README)![1]!.trim().split('\n')

const folder = mkdtempSync(join(tmpdir(), 'highwater-readme-signals-'))
let env: NodeJS.ProcessEnv
let service: Shell
let shell: Shell

/** A process whose output is read as it comes. */
type Shell = {
  readonly child: ChildProcess
  readonly output: () => string
  readonly says: (pattern: RegExp) => Promise<string>
  readonly ended: Promise<number | null>
}

function start(program: string, args: readonly string[]): Shell {
  const child = spawn(program, args, { cwd: ROOT, env, stdio: 'pipe', detached: true })
  let output = ''
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      for (const look of waiting) look()
    })
  }
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  const says = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(output)
        if (found === null) return
        waiting.delete(look)
        resolve(found[1] ?? found[0])
      }
      waiting.add(look)
      ended.then(() => reject(new Error(`it ended without ${pattern}: ${output}`)))
      look()
    })
  return { child, output: () => output, says, ended }
}

beforeAll(async () => {
  const ports = { HISTORY_PORT: '0', SIGNALS_PORT: '0', OPERATOR_PORT: String(await freePort()) }
  env = { ...process.env, ...ports, DATA_FOLDER: folder }
  delete env.STORE_URL
  delete env.PRIVATE_STORE_URL
  // That `run` builds the sample where nothing is published is told elsewhere; signals need no long history.
  const { url, privateUrl } = inject('tinyStore')
  cpSync(fileURLToPath(url), join(folder, 'store'), { recursive: true, preserveTimestamps: true })
  cpSync(fileURLToPath(privateUrl), join(folder, 'store.private'), {
    recursive: true,
    preserveTimestamps: true,
  })
  service = start('make', ['run'])
})

afterAll(async () => {
  shell?.child.stdin?.end('kill %1\nexit\n')
  await shell?.ended
  process.kill(-service.child.pid!, 'SIGINT')
  await service.ended
  rmSync(folder, { recursive: true, force: true })
})

test('are five, and the first one starts everything', () => {
  expect(COMMANDS).toHaveLength(5)
  expect(COMMANDS[0]).toBe('make run')
})

test('take a new operator from nothing to a verified delivery', async () => {
  const signalsUrl = await service.says(/signals service on (http:\S+)/)
  await service.says(/Ctrl-C stops everything/)
  const receiverPort = String(await freePort())
  const here = (text: string): string =>
    text
      .replaceAll('http://127.0.0.1:8081', signalsUrl)
      .replaceAll('9000', receiverPort)
      .replaceAll('/tmp/acme.state', join(folder, 'acme.state'))
  shell = start('bash', ['-e', '-m'])
  const type = (command: string): void => void shell.child.stdin?.write(`${here(command)}\n`)
  const [, add = '', key = '', receive = '', webhook = ''] = COMMANDS
  type(add)
  type(key)
  type(receive)
  await shell.says(/^listening on http:\S+/m)
  type(webhook)
  await shell.says(/skipped #\d+, a test/)
  type('npx highwater ops test acme && echo "and another"')
  await shell.says(/and another/)
  const number = await shell.says(/^seq: (\d+)$/m)
  await shell.says(new RegExp(`skipped #${number}, a test`))
})

test('and every path of the keyed service stands in its table', () => {
  for (const { path } of SIGNALS_ROUTES.filter(({ path }) => path.startsWith('/v1/'))) {
    expect(README).toContain(`\`${path}`)
  }
})
