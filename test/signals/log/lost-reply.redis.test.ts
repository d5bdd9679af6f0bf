// The reply to a fire is lost on a real connection, after Redis has done it.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Redis } from 'ioredis'
import { beforeAll, expect, test } from 'vitest'
import { type Committed, commit } from '#signals/log/commit.ts'
import { readAfter } from '#signals/log/read-log.ts'
import { connectRedis, RedisDownError } from '#signals/redis/connect.ts'
import { atEnd } from '../../support/ends.ts'
import { type SharedRedis, useTestRedis } from '../../support/servers/use-redis.ts'
import { fire, NOW_MS, signalContent } from '../../support/signals/signals.ts'

let proxy: CuttingProxy
let direct: Redis
let redis: Redis
let server: SharedRedis
useTestRedis((connected, started) => {
  direct = connected
  server = started
})
beforeAll(async () => {
  proxy = await startCuttingProxy(server.url)
  redis = connectRedis(proxy.url, () => {})
  atEnd(() => redis.disconnect())
  await redis.connect()
})

/** Fires again as long as the outcome is unknown, as the error asks the caller to do. */
async function fireUntilKnown(id: string): Promise<Committed | undefined> {
  for (;;) {
    try {
      const outcome = await commit(redis, [{ content: signalContent(id), onlyFor: null }], NOW_MS)
      return outcome.kind === 'committed' ? outcome.signals[0] : undefined
    } catch (error) {
      if (!(error instanceof RedisDownError)) throw error
    }
  }
}

test.each([1, 2, 5])(
  'a fire whose reply is lost %i times keeps its number, and is in the log once',
  async losses => {
    await fire(direct, 'before', 'alder')
    proxy.lose('lost', losses)
    expect(await fireUntilKnown('lost')).toEqual({ seq: 2, isRepeat: true })
    expect(proxy.left()).toBe(0)
    expect(await fire(direct, 'after', 'alder')).toBe(3)
    expect((await readAfter(direct, 0, 10)).map(({ seq }) => seq)).toEqual([1, 2, 3])
  },
)

type CuttingProxy = {
  /** The server's URL by way of the proxy. */
  readonly url: string
  /** Loses the replies to the next so many commands that hold this text. */
  readonly lose: (text: string, count: number) => void
  /** Replies that are still to be lost. */
  readonly left: () => number
}

async function startCuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const { hostname, port, password } = new URL(serverUrl)
  const sockets = new Set<Socket>()
  const plan = { text: '', left: 0 }
  const proxy = createServer(client => {
    const server = connect(Number(port), hostname)
    let isLosing = false
    const cut = (): void => {
      for (const socket of [client, server]) {
        socket.destroy()
        sockets.delete(socket)
      }
    }
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', cut)
      socket.on('close', cut)
    }
    client.on('data', bytes => {
      isLosing ||= plan.left > 0 && bytes.includes(plan.text)
      server.write(bytes)
    })
    server.on('data', bytes => {
      if (!isLosing) return client.write(bytes)
      plan.left--
      return cut()
    })
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const { port: own } = proxy.address() as AddressInfo // a server that listens on a port has one
  return {
    url: `redis://:${password}@127.0.0.1:${own}`,
    lose(text, count) {
      plan.text = text
      plan.left = count
    },
    left: () => plan.left,
  }
}
