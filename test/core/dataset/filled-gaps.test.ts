// What filled gaps explain, and what they do not.
import { expect, test } from 'vitest'
import type { Change, Changes } from '#core/contract/payloads/changes.ts'
import { isExplained } from '#core/dataset/filled-gaps.ts'

const NONE = { appended: null, restated_count: 0, restated: [] }

/** A version that fills a gap and alters one day after it, with these facts of the catalogue. */
const changesWith = (catalogue: Change[]): Changes => ({
  version: '2024-06-02T00:15:00Z',
  previous: '2024-06-01T00:15:00Z',
  history_restated: true,
  added: [],
  removed: [],
  strategies: [
    {
      id: 'ash',
      daily: { ...NONE, restated_count: 1, restated: [{ t: '2024-01-05', old: 0, new: 0.01 }] },
      weekly: NONE,
      trades: { appended: 0, restated_count: 0, restated: [] },
      stats: [],
      catalogue,
    },
  ],
  filled_gaps: [
    {
      of: 'BTCUSDT-PERP/1d',
      from: '2024-01-04T00:00:00Z',
      to: '2024-01-04T00:00:00Z',
      reason: 'the exchange was closed',
      strategies: ['ash'],
    },
  ],
})

test('a filled gap explains the days after it, and neither another base risk nor another version of a module', () => {
  expect(isExplained(changesWith([]))).toBe(true)
  expect(isExplained(changesWith([{ field: 'name', old: 'Ash', new: 'Oak' }]))).toBe(true)
  expect(isExplained(changesWith([{ field: 'base_risk_pct', old: 0.02, new: 0.01 }]))).toBe(false)
  expect(isExplained(changesWith([{ field: 'module_version', old: '1', new: '2' }]))).toBe(false)
})
