import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { expect, test } from 'vitest'
import type { Schema } from '#core/contract/parameters.ts'
import { openApiDocuments } from '../support/http/openapi-documents.ts'
import { temporaryFolder, writeFiles } from '../support/temporary-folder.ts'

const REDOCLY = join(import.meta.dirname, '../../node_modules/.bin/redocly')

/** No update notice and no telemetry: a test uses no outside service. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

const DOCUMENTS = await openApiDocuments()

/** Without a response, and with a tuple that is closed twice. */
const PAIR = { type: 'array', prefixItems: [{ type: 'string' }], items: false, minItems: 1, maxItems: 1 }
const FAULTY = {
  openapi: '3.1.0',
  info: { title: 'x', version: '1' },
  paths: { '/a': { get: {} } },
  components: { schemas: { Pair: PAIR } },
}

test("Redocly's recommended rules have no error and no warning for the three documents, and errors for a faulty one", async () => {
  const cwd = await temporaryFolder()
  const documents = [...Object.values(DOCUMENTS), FAULTY]
  const files = documents.map((_, i) => `openapi-${i}.json`)
  await writeFiles(cwd, Object.fromEntries(files.map((file, i) => [file, JSON.stringify(documents[i])])))
  const env = { ...process.env, ...QUIET }
  const { stdout } = spawnSync(REDOCLY, ['lint', '--format=json', ...files], { cwd, env, encoding: 'utf8' })
  // One document after the other, without a break between them.
  const texts = stdout.slice(stdout.indexOf('{')).split(/(?<=^\})(?=\{$)/m)
  const sound = { totals: { errors: 0, warnings: 0 }, problems: [] }
  expect(texts.map(text => JSON.parse(text))).toMatchObject([
    ...[sound, sound, sound],
    { totals: { errors: expect.toSatisfy(count => count > 0) } },
  ])
})

const linter = new spectral.Spectral()
linter.setRuleset({ extends: [rulesets.oas as RulesetDefinition] }) // their packages type it differently

async function findingsIn(document: Schema): Promise<string[]> {
  const found = await linter.run(structuredClone(document)) // it resolves references in place
  return found.map(({ code, path, message }) => `${path.join('/')}: ${code}: ${message}`)
}

test.each(Object.entries(DOCUMENTS))(
  'the oas rules of Spectral find nothing in the %s document',
  async (_name, document) => {
    expect(await findingsIn(document)).toEqual([])
  },
)

test('the oas rules of Spectral find an error where there is one, such as a tuple that is closed twice', async () => {
  expect(await findingsIn(FAULTY)).toContainEqual(
    expect.stringMatching(/^components\/schemas\/Pair\/items: array-items: /),
  )
})
