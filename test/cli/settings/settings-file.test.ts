// highwater.yaml: the same names as the variables, and the variables win.
import { spawnSync } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, inject, test } from 'vitest'
import { casesOf } from '#test/support/cases-of.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { LAUNCHER, startProcess } from '../../support/history/highwater-process.ts'
import { run } from '../made-up.ts'

let cwd: string
beforeEach(async () => {
  cwd = await temporaryFolder()
})

const write = (text: string, name = 'highwater.yaml') => writeFile(join(cwd, name), text)

type Shown = { settings: { name: string; value: string | null; source: string }[] }

const settingOf = async (name: string, env: NodeJS.ProcessEnv = {}) => {
  const { out } = await run(['doctor', '--json'], { cwd, env: { DATA_FOLDER: cwd, ...env } })
  return (JSON.parse(out) as Shown).settings.find(each => each.name === name)
}

test('a settings file sets what no variable sets', async () => {
  await write(
    'HISTORY_PORT: 0\nALLOWED_ORIGINS: [https://a.example.org, https://b.example.org]\nALLOW_UNSAFE_REDIS: true\n',
  )
  const source = join(cwd, 'highwater.yaml')
  expect(await settingOf('HISTORY_PORT')).toMatchObject({ value: '0', source })
  expect(await settingOf('ALLOWED_ORIGINS')).toMatchObject({
    value: 'https://a.example.org,https://b.example.org',
    source,
  })
  expect(await settingOf('ALLOW_UNSAFE_REDIS')).toMatchObject({ value: 'yes', source })
  expect(await settingOf('HISTORY_PORT', { HISTORY_PORT: '9001' })).toMatchObject({
    value: '9001',
    source: 'environment',
  })
  expect(await settingOf('HISTORY_PORT', { HISTORY_PORT: '' })).toMatchObject({ value: '0', source })
  expect(await settingOf('LOG_LEVEL')).toMatchObject({ value: 'info', source: 'default' })
})

test('a settings file keeps digits as they are written, because a secret may consist of them', async () => {
  await write('HOST: 00123\n')
  expect(await settingOf('HOST')).toMatchObject({ value: '00123' })
})

test('a settings file is used by every command, and may have another name', async () => {
  const { url, privateUrl } = inject('tinyStore')
  await write(`STORE_URL: ${url}\nPRIVATE_STORE_URL: ${privateUrl}\n`, 'production.yaml')
  const exit = await run(['versions'], { cwd, env: { HIGHWATER_SETTINGS: 'production.yaml' } })
  expect(exit).toMatchObject({ code: 0, err: '' })
  expect(exit.out).toContain('served')
})

test.each(casesOf`
an unknown name -> HISTORY_PROT: 8080 -> HISTORY_PROT: there is no such setting; did you mean HISTORY_PORT?
a name in lower case -> history_port: 8080 -> did you mean HISTORY_PORT?
a group of settings -> HISTORY_PORT: {a: 1} -> HISTORY_PORT: expected a text, a number, true, false, or a list of these
a list -> - HISTORY_PORT -> expected a line NAME: value for each setting
text that is no YAML -> ${'HISTORY_PORT: 1\n  LOG_LEVEL: ['} -> is not valid YAML
a wrong value, which is named as one of the file, -> HISTORY_PORT: many -> ${'highwater.yaml:\n  HISTORY_PORT: expected a port from 0 to 65535, of the history service, got "many"'}`)(
  'a settings file with %s is refused before anything is done, with exit code 2',
  async (_, text, message) => {
    await write(text)
    const exit = await run(['versions'], { cwd })
    expect(exit).toMatchObject({ code: 2, out: '' })
    expect(exit.err).toContain(message)
  },
)

test('a settings file that HIGHWATER_SETTINGS names and that does not exist is refused with exit code 2', async () => {
  const exit = await run(['versions'], { cwd, env: { HIGHWATER_SETTINGS: 'none.yaml' } })
  expect(exit.code).toBe(2)
  expect(exit.err).toContain('there is no such file')
})

/** Root's tests can become another user, if that one can read this project. */
const AS_USER = ['--reuid', '1000', '--regid', '1000', '--clear-groups', '--']
const isUser =
  process.getuid?.() === 0 && spawnSync('setpriv', [...AS_USER, 'test', '-x', process.execPath]).status === 0

test.skipIf(!isUser)(
  'a working folder that is closed to the user has no settings file (skipped if the tests cannot become another user)',
  async () => {
    const { url } = inject('tinyStore')
    const args = [...AS_USER, process.execPath, LAUNCHER, 'versions', '--store', url]
    const inClosed = () => startProcess('setpriv', args, { cwd }).ended
    await chmod(cwd, 0o700)
    expect((await inClosed()).stderr).not.toContain('settings file')
    await chmod(cwd, 0o755)
    await write('HISTORY_PORT: 0\n')
    await chmod(join(cwd, 'highwater.yaml'), 0o600)
    expect(await inClosed()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot read the settings file'),
    })
  },
)

test('a settings file that is refused does not prevent --help', async () => {
  await write('nonsense: 1')
  expect(await run(['versions', '--help'], { cwd })).toMatchObject({ code: 0 })
})

test('a settings file of only comments sets nothing', async () => {
  await write('# HISTORY_PORT: 9000\n')
  expect(await settingOf('HISTORY_PORT')).toMatchObject({ value: '8080', source: 'default' })
})
