// The OpenAPI documents as others read them: linters find nothing, and a client that is generated from each compiles.
import { spawnSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { generateSource } from 'oazapfts'
import { expect, test } from 'vitest'
import type { Schema } from '#core/contract/parameters.ts'
import { openApiDocuments } from '../support/http/openapi-documents.ts'
import { temporaryFolder, writeFiles } from '../support/temporary-folder.ts'

const MODULES = join(import.meta.dirname, '../../node_modules')

/** No update notice and no telemetry: a test uses no outside service. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

const DOCUMENTS = await openApiDocuments()

/** Without a response, with a tuple that is closed twice, and with examples that their schemas do not allow. */
const PAIR = { type: 'array', prefixItems: [{ type: 'string' }], items: false, minItems: 1, maxItems: 1 }
const EXAMPLES = { schema: { type: 'string', format: 'date' }, examples: { one: { value: 'no day' } } }
const ANSWERED = { responses: { 200: { description: 'x', content: { 'application/json': EXAMPLES } } } }
const FAULTY = {
  openapi: '3.1.0',
  info: { title: 'x', version: '1' },
  paths: { '/a': { get: {} }, '/b': { get: ANSWERED } },
  webhooks: { c: { post: ANSWERED } },
  components: { schemas: { Pair: PAIR } },
}

test("Redocly's recommended rules have no error and no warning for the three documents, and errors for a faulty one", async () => {
  const cwd = await temporaryFolder()
  const documents = [...Object.values(DOCUMENTS), FAULTY]
  const files = documents.map((_, i) => `openapi-${i}.json`)
  await writeFiles(cwd, Object.fromEntries(files.map((file, i) => [file, JSON.stringify(documents[i])])))
  const env = { ...process.env, ...QUIET }
  const { stdout } = spawnSync(join(MODULES, '.bin/redocly'), ['lint', '--format=json', ...files], {
    cwd,
    env,
    encoding: 'utf8',
  })
  // One document after the other, without a break between them.
  const texts = stdout.slice(stdout.indexOf('{')).split(/(?<=^\})(?=\{$)/m)
  const sound = { totals: { errors: 0, warnings: 0 }, problems: [] }
  expect(texts.map(text => JSON.parse(text))).toMatchObject([
    ...[sound, sound, sound],
    { totals: { errors: expect.toSatisfy(count => count > 0) } },
  ])
  expect(texts.at(-1)!.match(/"ruleId": "no-invalid-media-type-examples"/g)).toHaveLength(2)
})

const linter = new spectral.Spectral()
linter.setRuleset({
  extends: [rulesets.oas as RulesetDefinition], // their packages type it differently
  rules: { 'oas3-valid-media-example': 'off' }, // Redocly finds the same, in a tenth of the time
})

async function findingsIn(document: Schema): Promise<string[]> {
  const found = await linter.run(structuredClone(document)) // it resolves references in place
  return found.map(({ code, path, message }) => `${path.join('/')}: ${code}: ${message}`)
}

test('the oas rules of Spectral find nothing in the three documents, and an error where there is one, such as a tuple that is closed twice', async () => {
  for (const [name, document] of Object.entries(DOCUMENTS))
    expect([name, await findingsIn(document)]).toEqual([name, []])
  expect(await findingsIn(FAULTY)).toContainEqual(
    expect.stringMatching(/^components\/schemas\/Pair\/items: array-items: /),
  )
})

const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, noUncheckedIndexedAccess: true, allowImportingTsExtensions: true },
    ...{ target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'], module: 'nodenext', types: [] },
  },
}

const USE = `
import * as history from './history.ts'
import * as operator from './operator.ts'
import * as signals from './signals.ts'

export async function use() {
  const summary = await history.summary()
  if (summary.status !== 200) throw new Error(summary.status === 304 ? 'known' : summary.status.toFixed())
  const pair: readonly string[] | undefined = summary.data.data.diversification?.most_correlated?.pair

  const returns = await history.returns('ash', { period: 'weekly', format: 'parquet' }) // JSON, CSV, Arrow or Parquet
  const last: number | undefined = returns.status === 200 ? returns.data.data[0]?.ret : undefined
  const pulled = await signals.history({ since: 7, format: 'json' })
  const prices = pulled.status === 200 ? pulled.data.data.map(({ signal_price }) => signal_price.toFixed(2)) : []

  const fired = await operator.fire({
    ...{ signal_id: 'alder-1', alias: 'alder', action: 'long', timestamp: '2026-11-21T00:00:00Z' },
    ...{ signal_price: 50_000, stop: 49_000, base_risk_pct: 0.02 },
  })
  const seq = fired.status === 201 ? fired.data.data.seq.toFixed() : fired.status

  // @ts-expect-error a strategy has an id and no number
  await history.strategy(7)
  // @ts-expect-error no answer has this field
  return [pair, last, prices, seq, summary.data.data.colour]
}
`

test('the TypeScript client that is generated from each OpenAPI document compiles, and knows the fields that there are', async () => {
  const folder = await temporaryFolder()
  await symlink(MODULES, join(folder, 'node_modules'))
  const sources: Record<string, string> = {}
  for (const [name, document] of Object.entries(DOCUMENTS)) {
    await writeFiles(folder, { [`${name}.json`]: JSON.stringify(document) })
    sources[`${name}.ts`] = await generateSource(join(folder, `${name}.json`))
  }
  await writeFiles(folder, { ...sources, 'use.ts': USE, 'tsconfig.json': JSON.stringify(TSCONFIG) })
  const { stdout } = spawnSync(join(MODULES, '.bin/tsc'), ['--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
  const fields = Object.values(sources).flatMap(source => source.match(/^ *\w+\??: .*;$/gm) ?? [])
  expect(fields.length).toBeGreaterThan(500)
  expect(fields.filter(field => /: (?:never|unknown|any)\b/.test(field))).toEqual([])
})
