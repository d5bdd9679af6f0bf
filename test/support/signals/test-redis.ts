// The Redis of the running file, for tests that do not kill it.
import type { Redis } from 'ioredis'
import { type SharedRedis, useTestRedis } from '../servers/use-redis.ts'

/** The server, which is empty before each test, and a connection of the file. */
export let server: SharedRedis
export let redis: Redis

/** Called once by a file, before its tests. */
export const useRedis = (): void =>
  useTestRedis((connected, started) => {
    redis = connected
    server = started
  })
