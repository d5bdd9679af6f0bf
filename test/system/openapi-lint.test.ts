import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { describe, expect, test } from 'vitest'
import type { Schema } from '#core/contract/parameters.ts'
import { openApiDocuments } from '../support/http/openapi-documents.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const REDOCLY = join(import.meta.dirname, '../../node_modules/.bin/redocly')

/** No update notice and no telemetry: a test uses no outside service. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

const DOCUMENTS = await openApiDocuments()

const FAULTY = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: { '/a': { get: {} } } }

describe("Redocly's recommended rules", () => {
  async function lint(...documents: readonly object[]) {
    const cwd = await temporaryFolder()
    const files = documents.map((_, i) => `openapi-${i}.json`)
    for (const [i, file] of files.entries()) writeFileSync(join(cwd, file), JSON.stringify(documents[i]))
    const env = { ...process.env, ...QUIET }
    const { status, stdout } = spawnSync(REDOCLY, ['lint', '--format=json', ...files], {
      cwd,
      env,
      encoding: 'utf8',
    })
    // One document after the other, without a break between them.
    const texts = stdout.slice(stdout.indexOf('{')).split(/(?<=^\})(?=\{$)/m)
    return { status, findings: texts.map(text => JSON.parse(text)) }
  }

  test('have no error and no warning for the three documents', async () => {
    const sound = { totals: { errors: 0, warnings: 0 }, problems: [] }
    const { status, findings } = await lint(...Object.values(DOCUMENTS))
    expect([status, findings]).toMatchObject([0, [sound, sound, sound]])
  })

  test('have an error where there is one', async () => {
    expect((await lint(FAULTY)).findings[0].totals.errors).toBeGreaterThan(0)
  })
})

describe('the oas rules of Spectral', () => {
  async function lint(document: Schema) {
    const linter = new spectral.Spectral()
    linter.setRuleset({ extends: [rulesets.oas as RulesetDefinition] }) // their packages type it differently
    const found = await linter.run(structuredClone(document)) // it resolves references in place
    return found.map(({ code, path, message }) => `${path.join('/')}: ${code}: ${message}`)
  }

  test.each(Object.entries(DOCUMENTS))('find nothing in the document of the %s', async (_name, document) => {
    expect(await lint(document)).toEqual([])
  })

  test('find an error where there is one, such as a tuple that is closed twice', async () => {
    const pair = { type: 'array', prefixItems: [{ type: 'string' }], items: false, minItems: 1, maxItems: 1 }
    const found = await lint({ ...DOCUMENTS.history, components: { schemas: { Pair: pair } } })
    expect(found).toContainEqual(expect.stringMatching(/^components\/schemas\/Pair\/items: array-items: /))
  })
})
