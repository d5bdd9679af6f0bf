// The least that a server of Node can do: one buffer with the headers that the tier sends, whatever is asked. What it
// reaches is the limit of every server on node:http. Run by static.ts: bare-server.ts URL prints `ready URL`.
import { createServer } from 'node:http'

const [copied = ''] = process.argv.slice(2)
const answer = await fetch(copied, { headers: { 'accept-encoding': 'identity' } })
const body = new Uint8Array(await answer.arrayBuffer())
const head = [...answer.headers].filter(([name]) => !/^(date|connection|keep-alive)$/.test(name)).flat()

const server = createServer({ keepAliveTimeout: 65_000 }, (_request, response) => {
  response.writeHead(200, head)
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') console.log(`ready http://127.0.0.1:${address?.port}`)
})
