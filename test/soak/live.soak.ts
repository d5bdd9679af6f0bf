// Live runners that are killed while their feed grows, one seed after another: `make soak`, with KILLS, SEED and MINUTES.
// The first seed that fires anything else than everything once ends it, with what replays it.
import { test } from 'vitest'
import { startTestRedis } from '../support/servers/redis.ts'
import { KILLS_EACH, playKilledRunner } from '../support/signals/live-kills.ts'
import { numberFrom } from './number-from.ts'

const KILLS = numberFrom('KILLS', 300)
const MINUTES = numberFrom('MINUTES', 60)
const SEED = numberFrom('SEED', 20_261_121)

test(`${KILLS} kills of live runners (from seed ${SEED}) within ${MINUTES} minutes`, async () => {
  const began = performance.now()
  const started = await startTestRedis()
  const server = { url: started.url, redis: await started.connect() }
  let [killed, seed] = [0, SEED]
  const print = (end: string) =>
    process.stderr.write(
      `live: ${killed} of ${KILLS} kills, ${Math.round((performance.now() - began) / 1000)} s ` +
        `(seeds ${SEED} to ${seed - 1})${end}`,
    )
  try {
    while (killed < KILLS && performance.now() - began < MINUTES * 60_000) {
      await playKilledRunner(server, seed).catch(cause => {
        throw new Error(`seed ${seed}: replay it with: make soak SEED=${seed} KILLS=${KILLS_EACH}`, { cause })
      })
      killed += KILLS_EACH
      seed++
      print(process.stderr.isTTY ? '\r' : '\n')
    }
  } finally {
    await started.stop()
  }
  print(': no violation\n')
})
