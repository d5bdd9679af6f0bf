import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { operatorDocument } from '#api/operator/routes.ts'
import { signalsDocument } from '#api/signals/routes.ts'
import { openHistoryApp } from '../support/history/history-app.ts'

const REDOCLY = join(import.meta.dirname, '../../node_modules/.bin/redocly')

/** No update notice and no telemetry: a test uses no outside service. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

/** What the linter says of each document under its recommended rules. */
function lint(...documents: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'highwater-openapi-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const files = documents.map((_, i) => `openapi-${i}.json`)
  for (const [i, file] of files.entries()) writeFileSync(join(folder, file), documents[i]!)
  const { status, stdout } = spawnSync(REDOCLY, ['lint', '--format=json', ...files], {
    cwd: folder,
    env: { ...process.env, ...QUIET },
    encoding: 'utf8',
  })
  // One document after the other, without a break between them.
  const texts = stdout.slice(stdout.indexOf('{')).split(/(?<=^\})(?=\{$)/m)
  return { status, findings: texts.map(text => JSON.parse(text)) }
}

test('the documents of both services and of the operator are valid OpenAPI, without a warning', async () => {
  const { app } = await openHistoryApp(inject('tinyStore'))
  const history = await (await app.request('/openapi.json')).text()
  const signals = JSON.stringify(signalsDocument('https://signals.example.org'))
  const operator = JSON.stringify(operatorDocument('1.0'))
  const sound = { totals: { errors: 0, warnings: 0 }, problems: [] }
  const { status, findings } = lint(history, signals, operator)
  expect([status, findings]).toMatchObject([0, [sound, sound, sound]])
})

test('the linter finds an error where there is one', () => {
  const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: { '/a': { get: {} } } }
  expect(lint(JSON.stringify(document)).findings[0].totals.errors).toBeGreaterThan(0)
})
