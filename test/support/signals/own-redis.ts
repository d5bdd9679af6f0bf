// A Redis of the running file alone, which its tests may kill and restart.
import type { Redis } from 'ioredis'
import type { TestRedis } from '../servers/redis.ts'
import { useOwnRedis as useServer } from '../servers/use-redis.ts'

/** The server, which is empty before each test, and a connection of the file. */
export let server: TestRedis
export let redis: Redis

/** Called once by a file, before its tests. */
export const useOwnRedis = (): void =>
  useServer((connected, started) => {
    redis = connected
    server = started
  })
