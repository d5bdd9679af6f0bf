// What every scene of the bench of deliveries needs: subscribers, a delivery that is watched, and figures of a table.
import type { Redis } from 'ioredis'
import type { DeliveryEvent } from '#signals/delivery/delivery-parts.ts'
import { commit } from '#signals/log/commit.ts'
import type { TestRedis } from '#test/support/servers/redis.ts'
import { addSubscriber, startTestDelivery } from '#test/support/signals/delivery.ts'
import { signalContent } from '#test/support/signals/signals.ts'

/** What a delivery of the bench looks like to the receiver; the path says how it answers. */
type Kind = 'quick' | 'slow' | 'hang'

export type Bench = {
  readonly server: TestRedis
  readonly redis: Redis
  readonly origin: string
}

/** A delivery to so many endpoints, which tells when the next so many were acknowledged. */
export async function startWatched({ server, redis, origin }: Bench, clients: number, kind: Kind) {
  const attempts: Extract<DeliveryEvent, { kind: 'attempt' }>[] = []
  let wanted = 0
  let reached = (): void => {}
  for (let i = 0; i < clients; i++) await addSubscriber(redis, `${kind}-${i}`, `${origin}/${kind}/${i}`)
  const delivery = await startTestDelivery(server.url, {
    onEvent: event => {
      if (event.kind !== 'attempt' || !event.attempt.ok) return
      attempts.push(event)
      if (attempts.length >= wanted) reached()
    },
  })
  return {
    ...delivery,
    acknowledged(count: number): Promise<void> {
      wanted += count
      return new Promise(resolve => {
        reached = resolve
        if (attempts.length >= wanted) resolve()
      })
    },
    waits: () => attempts.map(({ attempt, firedAtMs }) => attempt.at + attempt.total_ms - firedAtMs),
    begun: () => attempts.map(({ attempt, firedAtMs }) => attempt.at - firedAtMs),
  }
}

export const fireMany = (redis: Redis, name: string, count: number): Promise<unknown> =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      commit(redis, [{ content: signalContent(`${name}-${i}`), onlyFor: null }], Date.now()),
    ),
  )

export const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))]!

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`

export const row = (name: string, value: string, target: string): string =>
  `| ${name} | ${value} | ${target} |`
