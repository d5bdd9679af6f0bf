import { expect, test } from 'vitest'
import { sha256 } from '#storage/digest.ts'
import { clientTypes } from '../../../deploy/client-types.ts'

test('the types of the TypeScript client name the parameters and the answer of each route that it reads, and none of their fields is of an unknown type', async () => {
  const { history, signals } = await clientTypes()
  for (const name of ['ReturnsQuery', 'ReturnsAnswer', 'StatsAnswer', 'VersionAnswer', 'Strategy', 'Error'])
    expect(history).toContain(`export type ${name} = `)
  for (const name of ['WhoamiAnswer', 'HeadAnswer', 'HistoryAnswer', 'Signal'])
    expect(signals).toContain(`export type ${name} = `)
  expect((history + signals).match(/^[^*]*: (?:unknown|any)\b/gm)).toBeNull()
})

test('a change of a published type is meant: the digest of the types is recorded here, and the change in the changelog', async () => {
  const { history, signals } = await clientTypes()
  expect(sha256(Buffer.from(history + signals))).toBe(
    '5b960b8ef70e2fe3068e8ec0f7352b3928ffc3d15d263f4449039d5107b78938',
  )
})
