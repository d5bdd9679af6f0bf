import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { startTestRedis, type TestRedis } from './redis.ts'

/** A server for the tests of a file, empty before each of them; `assign` gets a connection before the first. */
export function useTestRedis(assign: (redis: Redis, server: TestRedis) => void): void {
  let server: TestRedis
  let redis: Redis
  beforeAll(async () => {
    server = await startTestRedis()
    redis = await server.connect()
    assign(redis, server)
  })
  beforeEach(() => redis.flushall())
  afterAll(() => server.stop())
}
