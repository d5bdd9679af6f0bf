// A network between us and a server that loses replies: the command arrives and is done, and the connection is cut in place
// of the answer.
import { connect, createServer, type Socket } from 'node:net'

export type CuttingProxy = {
  /** The server's URL by way of the proxy. */
  readonly url: string
  /** Loses the replies to the next so many commands that hold this text. */
  readonly lose: (text: string, count: number) => void
  /** Replies that are still to be lost. */
  readonly left: () => number
  close(): Promise<void>
}

export async function startCuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(serverUrl)
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
  const address = proxy.address()
  return {
    url: `redis://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    lose(text, count) {
      plan.text = text
      plan.left = count
    },
    left: () => plan.left,
    close: () =>
      new Promise(resolve => {
        proxy.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
