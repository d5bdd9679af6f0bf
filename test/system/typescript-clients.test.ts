// A TypeScript client is generated from each OpenAPI document, and compiled where it is used.
import { spawnSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { generateSource } from 'oazapfts'
import { expect, test } from 'vitest'
import { openApiDocuments } from '../support/http/openapi-documents.ts'
import { temporaryFolder, writeFiles } from '../support/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')

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
  return [pair, prices, seq, summary.data.data.colour]
}
`

test('the TypeScript client that is generated from each OpenAPI document compiles, and knows the fields that there are', async () => {
  const folder = await temporaryFolder()
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const sources: Record<string, string> = {}
  for (const [name, document] of Object.entries(await openApiDocuments())) {
    await writeFiles(folder, { [`${name}.json`]: JSON.stringify(document) })
    sources[`${name}.ts`] = await generateSource(join(folder, `${name}.json`))
  }
  await writeFiles(folder, { ...sources, 'use.ts': USE, 'tsconfig.json': JSON.stringify(TSCONFIG) })
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
  const fields = Object.values(sources).flatMap(source => source.match(/^ *\w+\??: .*;$/gm) ?? [])
  expect(fields.length).toBeGreaterThan(500)
  expect(fields.filter(field => /: (?:never|unknown|any)\b/.test(field))).toEqual([])
})
