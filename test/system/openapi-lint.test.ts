import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openHistoryApp } from '../setup/history-app.ts'

const REDOCLY = join(import.meta.dirname, '../../node_modules/.bin/redocly')

/** No news and no statistics: a test speaks to nobody outside. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

/** What the linter says of a document under its recommended rules. */
function lint(document: string) {
  const folder = mkdtempSync(join(tmpdir(), 'highwater-openapi-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'openapi.json'), document)
  const { status, stdout } = spawnSync(REDOCLY, ['lint', '--format=json', 'openapi.json'], {
    cwd: folder,
    env: { ...process.env, ...QUIET },
    encoding: 'utf8',
  })
  return { status, ...JSON.parse(stdout.slice(stdout.indexOf('{'))) }
}

test('the document of the service is valid OpenAPI, without a warning', async () => {
  const { app } = await openHistoryApp(inject('tinyStore'))
  const document = await (await app.request('/openapi.json')).text()
  expect(lint(document)).toMatchObject({ status: 0, totals: { errors: 0, warnings: 0 }, problems: [] })
})

test('the linter would complain', () => {
  const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: { '/a': { get: {} } } }
  expect(lint(JSON.stringify(document)).totals.errors).toBeGreaterThan(0)
})
