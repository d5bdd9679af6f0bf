// Nobody holds a connection for nothing, and there are never more of them than are served.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { atEnd } from '../../support/ends.ts'
import { CLOSING, open, REQUEST, start, statusesIn, tellPath } from '../../support/http/raw-server.ts'

/** Limits in which a test need not wait. */
const SHORT = {
  headersMs: 200,
  requestMs: 400,
  checkMs: 20,
  stalledMs: 300,
  connections: 2,
}

/** What a server sends until the connection is closed, also if it is reset because something was still on its way to it. */
function answerOn(socket: Socket): Promise<string> {
  let answer = ''
  socket.on('data', bytes => {
    answer += bytes
  })
  socket.on('error', () => {})
  return new Promise(resolve => socket.once('close', () => resolve(answer)))
}

test.each([
  ['headers, a byte at a time', 'GET / HTTP/1.1\r\nX: ', 'x', ['408']],
  ['empty lines without end', '\r\n', '\r\n', ['408']],
  ['a body, a byte at a time', `PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n`, 'x', ['408']],
  ['nothing at all', '', '', ['408']],
])('a connection that is held for nothing is closed: %s', async (_what, first, more, expected) => {
  const server = await start(async request => new Response(await request.text()), SHORT)
  const socket = open(server, first)
  const dripping = setInterval(() => socket.write(more), 20)
  atEnd(() => clearInterval(dripping))
  expect(statusesIn(await answerOn(socket))).toEqual(expected)
})

test('connections beyond the limit are closed, and served again when one has gone', async () => {
  const server = await start(tellPath, { connections: 2 })
  const [first, second] = [open(server, REQUEST), open(server, REQUEST)]
  await Promise.all([once(first, 'data'), once(second, 'data')])
  expect(await text(open(server, REQUEST)).catch(() => '')).toBe('')
  first.end()
  await once(first, 'close')
  const ask = () => text(open(server, CLOSING)).catch(() => '')
  await expect.poll(async () => statusesIn(await ask())).toEqual(['200']) // the server may notice the end later
})
