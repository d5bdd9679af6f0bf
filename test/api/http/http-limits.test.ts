// Nobody holds a connection for nothing, and there are never more of them than are served.
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  CLOSING,
  errorIn,
  GET,
  open,
  REQUEST,
  start,
  statusesIn,
  tellPath,
} from '../../support/http/raw-server.ts'

/** Limits in which a test need not wait. */
const SHORT = {
  headersMs: 200,
  requestMs: 400,
  lookMs: 20,
  stalledMs: 300,
  connections: 2,
  refusedConnections: 1,
}

describe('who holds a connection for nothing loses it:', () => {
  test.each([
    ['headers, a byte at a time', 'GET / HTTP/1.1\r\nX: ', 'x', ['400']],
    ['empty lines without end', '\r\n', '\r\n', ['400']],
    ['a body, a byte at a time', `PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n`, 'x', ['400']],
    ['nothing at all', '', '', []],
  ])('%s', async (_what, first, more, expected) => {
    const server = await start(async request => new Response(await request.text()), SHORT)
    const socket = open(server, first)
    const dripping = setInterval(() => socket.write(more), 20)
    onTestFinished(() => clearInterval(dripping))
    expect(statusesIn(await text(socket))).toEqual(expected)
  })

  test('a reader that stands still', async () => {
    const large = Buffer.alloc(50_000_000) // more than the buffers of any socket hold
    const server = await start(() => new Response(large), { ...SHORT, connections: 1 })
    const standing = open(server, REQUEST)
    await once(standing, 'readable') // and nothing is read
    const ask = () => text(open(server, `HEAD${CLOSING.slice(3)}`))
    expect(statusesIn(await ask())).toEqual(['503'])
    await vi.waitFor(async () => expect(statusesIn(await ask())).toEqual(['200']), 20_000)
  })
})

describe('connections beyond the limit', () => {
  test('hear that there are too many, and are served again when one has gone', async () => {
    const server = await start(tellPath, { connections: 2 })
    const [first, second] = [open(server, REQUEST), open(server, REQUEST)]
    await Promise.all([once(first, 'data'), once(second, 'data')])
    const refused = await text(open(server, REQUEST))
    expect(statusesIn(refused)).toEqual(['503'])
    expect(refused.toLowerCase()).toContain('\r\nretry-after: 5\r\n')
    expect(refused.toLowerCase()).toContain('\r\nconnection: close\r\n')
    expect(errorIn(refused).code).toBe('overloaded')
    first.end()
    await once(first, 'close')
    expect(statusesIn(await text(open(server, CLOSING)))).toEqual(['200'])
  })

  test('beyond those that are refused are closed without a word', async () => {
    const server = await start(tellPath, { connections: 1, refusedConnections: 1 })
    const held = [open(server, GET), open(server, GET)]
    await Promise.all(held.map(socket => once(socket, 'connect')))
    expect(await text(open(server)).catch(() => '')).toBe('')
  })
})
