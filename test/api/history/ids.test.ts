// The matrix of a subset: every spelling of `ids`, and the form that the matrix keeps.
import { expect, test } from 'vitest'
import { getData, openTiny } from './answers.ts'
import { SIDS } from './paths.ts'
import { DATA } from './specification.ts'

const { app } = await openTiny()

const textOf = async (address: string) => (await app.request(address)).text()

const matrixOf = (query: string) => getData(app, `/v1/correlation?${query}`, DATA.correlation)

test('ids may be given in any spelling, keep their order, and count once', async () => {
  const plain = await textOf('/v1/correlation?ids=yew,ash,elm')
  for (const spelling of [
    'ids=yew&ids=ash&ids=elm',
    'ids=yew,ash&ids=elm',
    'ids=yew%2Cash%2Celm',
    'ids=%20yew%20,%20ash,elm%20',
    'ids=yew,%09ash&ids=elm',
    'ids=yew+,ash,elm',
    'ids=yew,ash,yew,elm,ash',
    'ids=yew,ash&x=1&ids=yew,elm',
    'period=daily&ids=yew,ash,elm',
  ]) {
    expect(await textOf(`/v1/correlation?${spelling}`), spelling).toBe(plain)
  }
  expect((await matrixOf('ids=yew,ash,elm')).ids).toEqual(['yew', 'ash', 'elm'])
})

test.each(SIDS)('the correlation of the one strategy %s is a matrix of 1', async sid => {
  expect(await matrixOf(`ids=${sid}`)).toMatchObject({ ids: [sid], matrix: [[1]], undefined_pairs: [] })
})

test('the correlation of all strategies in another order is the same matrix turned', async () => {
  for (const period of ['daily', 'weekly']) {
    const { matrix } = await matrixOf(`period=${period}`)
    const turned = await matrixOf(`period=${period}&ids=${SIDS.toReversed().join(',')}`)
    expect(turned.matrix).toEqual(matrix.map(row => row.toReversed()).toReversed())
  }
})

test('a matrix of correlations is square and symmetric with exactly 1 on its diagonal, and its undefined cells are listed', async () => {
  for (const period of ['daily', 'weekly']) {
    const { ids, matrix, undefined_pairs } = await matrixOf(`period=${period}`)
    const undefinedCells = new Set(undefined_pairs.map(({ pair }) => pair.join()))
    for (const [i, row] of matrix.entries()) {
      expect(row).toHaveLength(ids.length)
      expect(row[i]).toBe(1)
      for (const [j, cell] of row.entries()) {
        expect(cell).toBe(matrix[j]![i])
        if (j > i && undefinedCells.has(`${ids[i]},${ids[j]}`)) expect(cell).toBe(0)
      }
    }
    // The flat strategy has a correlation with none of the others.
    expect(undefined_pairs.map(({ pair }) => pair)).toEqual([
      ['ash', 'yew'],
      ['beech', 'yew'],
      ['elm', 'yew'],
    ])
  }
})
