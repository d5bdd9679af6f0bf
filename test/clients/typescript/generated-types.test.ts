import { expect, test } from 'vitest'
import { clientTypes } from '../../../deploy/client-types.ts'

test('the types of the TypeScript client name the parameters and the answer of each route that it reads, and none of their fields is of an unknown type', async () => {
  const { history, signals } = await clientTypes()
  for (const name of ['ReturnsQuery', 'ReturnsAnswer', 'StatsAnswer', 'VersionAnswer', 'Strategy', 'Error'])
    expect(history).toContain(`export type ${name} = `)
  for (const name of ['WhoamiAnswer', 'HeadAnswer', 'HistoryAnswer', 'Signal'])
    expect(signals).toContain(`export type ${name} = `)
  expect((history + signals).match(/^[^*]*: (?:unknown|any)\b/gm)).toBeNull()
})
