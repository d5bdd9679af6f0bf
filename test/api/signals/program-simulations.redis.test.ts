// Both simulations: one shape, the numbers of the core, and bounds of their own.
import type { Redis } from 'ioredis'
import { beforeEach, describe, expect, test } from 'vitest'
import { programSimulation } from '#core/contract/payloads/program.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import { renderSimulation } from '#core/dataset/resources/program/simulation.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'
import { addEntitled, programClient } from '../../support/signals/program-client.ts'
import { PROGRAM } from '../../support/signals/served-program.ts'
import { createTestSignals } from '../../support/signals/signals-app.ts'
import { envelopeOf } from './keyed-answers.ts'

let redis: Redis
let client: ReturnType<typeof programClient>
let nobody: ReturnType<typeof programClient>

useTestRedis(connected => {
  redis = connected
})
beforeEach(async () => {
  const { app } = createTestSignals(redis)
  client = programClient(app, await addEntitled(redis, 'acme'))
  nobody = programClient(app, '')
})

const dataOf = async (response: Response): Promise<unknown> => (await envelopeOf(response)).data

describe('a simulation', () => {
  test('is the same with a key and without one, and that of the core', async () => {
    const input = { equity_usd: 25_000, contribution_cadence_bars: 14 }
    const keyed = await envelopeOf(await client.post('/v1/program/simulate', input))
    const keyless = await envelopeOf(await nobody.post('/v1/program/preview/simulate', input))
    expect(keyed.data).toEqual(renderSimulation(PROGRAM.data, input))
    expect(keyless.data).toEqual(keyed.data)
    expect(keyless.meta).toEqual(keyed.meta)
    expect(keyed.meta).toMatchObject({ input_clamped: false, requested: input })
  })

  test('is linear in the equity, asked for before or never', async () => {
    const simulate = async (equity_usd: number) =>
      programSimulation.parse(
        await dataOf(
          await client.post('/v1/program/simulate', { equity_usd, contribution_cadence_bars: 21 }),
        ),
      )
    const one = await simulate(1)
    for (const equity of [1_000, 1_000_000_000]) {
      const many = await simulate(equity)
      expect(toSignificant(many.total_btc_accumulated / equity)).toBe(one.total_btc_accumulated)
      expect(toSignificant(many.total_usd_deployed / equity)).toBe(one.total_usd_deployed)
      expect([many.avg_cost_basis, many.benchmarks]).toEqual([one.avg_cost_basis, one.benchmarks])
    }
  })

  test.each([
    ['keyed', '/v1/program/simulate', 0.5, 0, 1, 1],
    ['keyed', '/v1/program/simulate', 2e9, 3_651, 1e9, 3_650],
    ['keyed', '/v1/program/simulate', 1e300, 1e300, 1e9, 3_650],
    ['keyed', '/v1/program/simulate', -7, -7, 1, 1],
    ['keyless', '/v1/program/preview/simulate', 99.99, 0, 100, 1],
    ['keyless', '/v1/program/preview/simulate', 1_000_000.01, 91, 1_000_000, 90],
    ['keyless', '/v1/program/preview/simulate', 100, 90, 100, 90],
    ['keyless', '/v1/program/preview/simulate', 1_000_000, 1, 1_000_000, 1],
  ] as const)(
    'of %s %s with %d and %d uses %d and %d, and says so',
    async (_, path, equity, cadence, usedEquity, usedCadence) => {
      const requested = { equity_usd: equity, contribution_cadence_bars: cadence }
      const used = { equity_usd: usedEquity, contribution_cadence_bars: usedCadence }
      const { data, meta } = await envelopeOf(await client.post(path, requested))
      expect(data).toEqual(renderSimulation(PROGRAM.data, used))
      expect(data).toMatchObject({ input: used })
      const input_clamped = equity !== usedEquity || cadence !== usedCadence
      expect(meta).toMatchObject({ requested, input_clamped })
    },
  )
})
