// docs/operating.md against the program: its commands and files exist, and every failure has its row.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import { VARIABLE_NAMES } from '#cli/environment.ts'
import { EXIT } from '#cli/exit.ts'
import { READINESS_CHECKS } from '#core/contract/readiness-checks.ts'
import { dataSchema } from '#core/contract/route.ts'
import { ALERT_KINDS } from '#signals/alerts.ts'
import { run } from '../cli/made-up.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { expectCommand } from './known-command.ts'

const ROOT = join(import.meta.dirname, '../..')

const page = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(match => match[1]!).join('')

test('the first commands of docs/operating.md publish a book, and find everything as published', async () => {
  const cwd = await temporaryFolder()
  const lines = blocks('sh')
    .replaceAll('$PWD', cwd)
    .matchAll(/^highwater (.+)$/gm)
  let printed = ''
  for (const [, line = ''] of lines) {
    const words = [...line.matchAll(/"(.*?)"|'(.*?)'|(\S+)/g)].map(([, ...texts]) => texts.join(''))
    const env = { PATH: process.env.PATH, BUILD_EFFORT: 'quick' }
    const { code, out } = await run(words, { cwd, env, now: () => Date.now() })
    expect([line, code]).toEqual([line, 0])
    printed += out
  }
  expect(printed).toContain('night done: ')
  expect(printed).toMatch(/all as published\n$/)
})

/** The first cells below a heading that begin with a name in code, each name by itself. */
const rowsBelow = (heading: string): string[] => {
  const [, below = ''] = page.split(`\n### ${heading}\n`)
  const [section = ''] = below.split(/^#/m)
  return [...section.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  )
}

test('docs/operating.md says of every alert, exit code of a night and readiness check what it means', () => {
  expect(rowsBelow('An alert came').toSorted()).toEqual([...ALERT_KINDS].toSorted())
  expect(rowsBelow('A night failed').slice(0, 3)).toEqual(Object.values(EXIT).map(String))
  const ofSignals = dataSchema(SIGNALS_ROUTES.find(({ id }) => id === 'readyz')!)
  const { checks } = z
    .object({ checks: z.record(z.string(), z.boolean()) })
    .parse(ofSignals.parse({ ready: true, checks: { redis: true, log: true } }))
  expect(rowsBelow('A service is not ready')).toEqual([...READINESS_CHECKS, ...Object.keys(checks)])
})

test('docs/operating.md installs files that exist, and names only commands and variables of the program', async () => {
  const script = blocks('bash')
  const files = [...script.matchAll(/\/opt\/highwater\/((?:deploy|cli)\/[\w./-]+)/g)].map(match => match[1]!)
  expect(files.length).toBeGreaterThan(4)
  for (const file of files) expect(existsSync(join(ROOT, file)), file).toBe(true)
  for (const [, line = ''] of script.matchAll(/(?:^|-- )highwater (.+)$/gm))
    await expectCommand(line.split(' '))
  const compose = readFileSync(join(ROOT, 'deploy/docker/compose.yaml'), 'utf8')
  const ofCompose = [...compose.matchAll(/\$\{(\w+)/g)].map(([, name]) => name)
  for (const name of page.match(/\b[A-Z]+_[A-Z_]+\b/g) ?? [])
    expect([...VARIABLE_NAMES, ...ofCompose]).toContain(name)
})

/** Command lines of a page: in code type, or a line of a block. */
const commandsOn = (page: string): string[] =>
  [...page.matchAll(/`highwater ([a-z][^`\n]*)`|^ *(?:npx )?highwater ([a-z][^#|\n]*)/gm)].map(
    ([, inText, inBlock]) => (inText ?? inBlock ?? '').trim(),
  )

test('every command that a page names is one of the program, with its options', async () => {
  const pages = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })]
  const commands = new Set(pages.flatMap(page => commandsOn(readFileSync(join(ROOT, page), 'utf8'))))
  expect(commands.size).toBeGreaterThan(30)
  for (const command of commands) {
    if (command.includes('...') || command === 'ops') continue // not a whole command
    await expectCommand(command.split(/ +/))
  }
})
