// The most that Node's sockets give: the bytes of one answer to whatever comes, and no HTTP at all. Run by static.ts:
// bare-sockets.ts URL ACCEPT_ENCODING [ETAG] prints `ready URL`.
import { get } from 'node:http'
import { createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'

const [url = '', coding = '', etag] = process.argv.slice(2)

const answer = await new Promise<Buffer>((resolve, reject) => {
  const headers = { 'accept-encoding': coding, ...(etag === undefined ? {} : { 'if-none-match': etag }) }
  const request = get(url, { headers }, response => {
    const lines = [`HTTP/1.1 ${response.statusCode} ${response.statusMessage}`]
    for (let i = 0; i < response.rawHeaders.length; i += 2) {
      lines.push(`${response.rawHeaders[i]}: ${response.rawHeaders[i + 1]}`)
    }
    const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
    buffer(response).then(body => resolve(Buffer.concat([head, body])), reject)
  })
  request.once('error', reject)
})

const server = createServer({ noDelay: true }, socket => {
  socket.on('data', () => socket.write(answer)).on('error', () => socket.destroy())
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') console.log(`ready http://127.0.0.1:${address?.port}`)
})
