// Whatever follows a proper request, its answer comes first, and whole.
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
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
import { createGate } from '../../support/stores/store-doubles.ts'

describe('after requests that are still being answered,', () => {
  test.each([
    ['what is no HTTP', 'GARBAGE\r\n\r\n', '400'],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n', '400'],
    ['too many headers', `${GET}X: ${'x'.repeat(20_000)}\r\n\r\n`, '431'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', '405'],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', '405'],
  ])('%s is refused last, and overtakes none', async (_what, bytes, status) => {
    const server = await start(tellPath)
    const three = ['/a', '/b', '/c'].map(path => REQUEST.replace('/', path)).join('')
    const answers = await text(open(server, three + bytes))
    expect(statusesIn(answers)).toEqual(['200', '200', '200', status])
    expect(answers.match(/\/[abc] /g)).toEqual(['/a ', '/b ', '/c '])
    expect(errorIn(answers).message).not.toBe('')
  })

  test('each of them is given where the server is asked to end', async () => {
    const gate = createGate()
    const server = await start(async request => {
      await gate.pass()
      return tellPath(request)
    })
    const asking = open(server, REQUEST.repeat(3))
    await gate.reached
    const ended = server.close()
    gate.open()
    const answers = await text(asking)
    expect(statusesIn(answers)).toEqual(['200', '200', '200'])
    expect(answers.match(/^connection: close/gim)).toHaveLength(1)
    await ended
  })
})

describe('a sender that waits for `100 Continue`', () => {
  const EXPECTING = `${GET}Expect: 100-continue\r\n`

  test.each([
    ['at once where nothing is before it', '', ['100', '200']],
    ['in its turn, and never within another answer', REQUEST, ['200', '100', '200']],
  ])('hears it %s', async (_what, before, expected) => {
    const server = await start(async request => new Response(await request.text()))
    const body = 'Content-Length: 3\r\nConnection: close\r\n\r\n'
    const socket = open(server, before + EXPECTING.replace('GET', 'PUT') + body)
    const answers = text(socket)
    socket.on('data', bytes => String(bytes).includes(' 100 ') && socket.write('abc'))
    expect(statusesIn(await answers)).toEqual(expected)
    expect((await answers).endsWith('\r\n\r\nabc')).toBe(true)
  })

  test('hears none where the answer is there before its turn, and gets that answer whole', async () => {
    const server = await start(() => new Response(Buffer.from('told')))
    const answers = await text(open(server, `${REQUEST}${EXPECTING}Connection: close\r\n\r\n`))
    expect(statusesIn(answers)).toEqual(['200', '200'])
    expect(answers.match(/\r\n\r\ntold/g)).toHaveLength(2)
  })
})

describe('CONNECT, which takes a connection from the server that Node made,', () => {
  test('does not end the process where the sender resets it', async () => {
    const server = await start(tellPath)
    const gone = open(server, `${REQUEST}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`)
    await once(gone, 'connect')
    gone.resetAndDestroy()
    expect(statusesIn(await text(open(server, CLOSING)))).toEqual(['200'])
  })

  test('is left where the connection was closed by the answer before it', async () => {
    const server = await start(() => new Response('told'))
    const answers = await text(open(server, `${CLOSING}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`))
    expect(statusesIn(answers)).toEqual(['200'])
    expect(statusesIn(await text(open(server, CLOSING)))).toEqual(['200'])
  })
})

describe('a body that breaks off', () => {
  const BROKEN = 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'

  test('is refused in the place of the answer, which waited for it', async () => {
    const server = await start(async request => new Response(await request.text()))
    const answers = await text(open(server, `${REQUEST}${GET.replace('GET', 'PUT')}${BROKEN}`))
    expect(statusesIn(answers)).toEqual(['200', '400'])
    expect(errorIn(answers).code).toBe('bad_request')
  })

  test('of a request that was answered ends the connection without a second answer', async () => {
    const server = await start(() => new Response('told'))
    const [before, after] = BROKEN.split('zz')
    const socket = open(server, GET + before)
    const answers = text(socket)
    await once(socket, 'data')
    socket.write(`zz${after}`)
    expect(statusesIn(await answers)).toEqual(['200'])
  })
})

describe('is refused in the envelope, and closed:', () => {
  test.each([
    ['a request for two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['a request for one host, twice', 'GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n'],
    ['a request of HTTP/1.0 for two hosts', 'GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['a request of HTTP/0.9', 'GET /\r\n\r\n'],
    ['a request that says HTTP/2.0', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n'],
  ])('%s', async (_what, bytes) => {
    const answers = await text(open(await start(tellPath), bytes))
    expect(statusesIn(answers)).toEqual(['400'])
    expect(errorIn(answers).code).toBe('bad_request')
  })
})
