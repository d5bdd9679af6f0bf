import type { Redis } from 'ioredis'
import { beforeAll, beforeEach } from 'vitest'
import { connectRedis } from '#signals/redis/connect.ts'
import { atEnd, atEndOfProcess } from '../ends.ts'
import { shared } from '../runner/shared.ts'
import { startTestRedis, type TestRedis } from './redis.ts'

/** A server that other files of this process use before and after: nothing ends it, and each test finds it empty. */
export type SharedRedis = Pick<TestRedis, 'url' | 'connect'>

type Assign<Server> = (redis: Redis, server: Server) => void

/** The server of this process for the tests of a file, empty before each of them; `assign` gets a connection before the first. */
export const useTestRedis = (assign: Assign<SharedRedis>): void => useRedis(sharedRedis, assign)

/** The same with a server of the file's own, which its tests may kill and restart. */
export const useOwnRedis = (assign: Assign<TestRedis>): void => useRedis(ownRedis, assign)

function useRedis<Server extends SharedRedis>(start: () => Promise<Server>, assign: Assign<Server>): void {
  let redis: Redis
  beforeAll(async () => {
    const server = await start()
    redis = await server.connect()
    assign(redis, server)
  })
  beforeEach(() => redis.flushall())
}

/** The server of this process, as the file before left it. */
export async function sharedRedis(): Promise<SharedRedis> {
  const { url } = await shared(`redis/${process.env.VITEST_POOL_ID}`)
  return {
    url,
    async connect() {
      const redis = connectRedis(url, () => {}, { commandTimeout: 60_000 }) // a busy machine is no Redis that hangs
      atEnd(() => redis.disconnect())
      await redis.connect()
      return redis
    },
  }
}

/** A server that may be killed, which ends with the running test, or with the file if no test runs. */
export async function ownRedis(...how: Parameters<typeof startTestRedis>): Promise<TestRedis> {
  const server = await startTestRedis(...how)
  atEndOfProcess(server.stop)
  return server
}
