// A server that keeps what is posted to it, as services do that watch for nights and take alerts.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export type Posted = { readonly path: string; readonly body: string }

/** Takes everything, until the test ends. */
export async function startReceiver(status = 200) {
  const posted: Posted[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      posted.push({ path: request.url ?? '', body })
      response.writeHead(status).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // a string only for pipes
  return { url: `http://127.0.0.1:${port}`, posted, paths: () => posted.map(({ path }) => path) }
}
