import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { sharedData } from '../../support/shared-data.ts'
import { catalogueWith, readChanged } from './book-folder.ts'

const skip = sharedData === null ? 'skipped: no real bars on this machine' : ''

/** Real bars as an importer would leave them: the six columns of a book. */
async function readReal(name: string) {
  const text = gunzipSync(await readFile(join(sharedData ?? '', 'bars', `${name}.csv.gz`))).toString('utf8')
  const rows = text.trimEnd().split('\n').slice(1)
  const bars = ['t,o,h,l,c,v', ...rows.map(row => row.split(',').toSpliced(1, 1).join())]
  const catalogue = catalogueWith('source: ledger', 'source: ledger\n    instrument: REAL')['catalogue.yaml']
  const { bars: read } = await readChanged({
    'catalogue.yaml': `${catalogue}  REAL: none\n`,
    'bars/REAL/4h.csv': `${bars.join('\n')}\n`,
  })
  return read.get('REAL/4h')
}

describe.skipIf(sharedData === null)(`real bars of four hours ${skip}`, () => {
  test('of a market that never stopped have no gap', async () => {
    const file = await readReal('binance-perp_BTCUSDT_4h')
    expect(file?.bars.t).toHaveLength(14_864)
    expect(file?.gaps).toEqual([])
    expect(closeAt(file, '2020-03-12T20:00:00Z')).toBe(4764.65)
  })

  test('of a market with eight outages have eight gaps and sixteen missing bars', async () => {
    const file = await readReal('binance-spot_BTCUSDT_4h')
    expect(file?.bars.t).toHaveLength(19_359)
    expect(file?.gaps).toHaveLength(8)
    expect(file?.gaps.reduce((sum, { bars_missing }) => sum + bars_missing, 0)).toBe(16)
    expect(closeAt(file, '2020-03-12T20:00:00Z')).toBe(4800)
  })
})

const closeAt = (file: Awaited<ReturnType<typeof readReal>>, iso: string) =>
  file?.bars.c[file.bars.t.indexOf(Date.parse(iso))]
