// Receivers of the bench, a process of their own. Each client has an address of its own in 127.0.0.0/8, and its path says how it
// is answered. A message `turn` makes those of the kind `turning` hang; any other is answered with what has arrived.
import { createServer } from 'node:http'

/** A delivery of a number, and when its last byte had arrived, epoch milliseconds. */
export type Arrival = { readonly kind: string; readonly seq: number; readonly atMs: number }

let hasTurned = false
let arrived: Arrival[] = []

const server = createServer((request, response) => {
  const kind = request.url?.split('/')[1] ?? ''
  request.resume().once('end', () => {
    arrived.push({ kind, seq: Number(request.headers['x-signal-seq']), atMs: Date.now() })
    if (kind !== 'turning' || !hasTurned) response.end()
  })
})

server.listen(0, '0.0.0.0', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : 0)
})

process.on('message', message => {
  if (message === 'turn') {
    hasTurned = true
    return
  }
  process.send?.(arrived)
  arrived = []
})
process.on('disconnect', () => process.exit())
