// Whatever follows a proper request, its answer comes first; and nobody holds a connection for nothing.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { errorAnswer } from '#api/error-answer.ts'
import { HTTP_LIMITS, type HttpLimits } from '#api/http-limits.ts'
import { type HttpApp, type RunningServer, startServer } from '#api/http-server.ts'
import { DEFAULT_DISCLAIMER, register } from '#core/contract/register.ts'
import { createGate } from '../setup/store-doubles.ts'
import { ERROR_ENVELOPE } from './specification.ts'

const META = register({ version: null, disclaimer: DEFAULT_DISCLAIMER }, null, null)

/** Limits in which a test need not wait. */
const SHORT = {
  headersMs: 200,
  requestMs: 400,
  lookMs: 20,
  stalledMs: 300,
  connections: 2,
  refusedConnections: 1,
}

async function start(fetch: HttpApp['fetch'], changes: Partial<HttpLimits> = {}): Promise<RunningServer> {
  const limits = { ...HTTP_LIMITS, ...changes }
  const app: HttpApp = { fetch, answerError: error => errorAnswer(error, META) }
  const server = await startServer(() => app, '127.0.0.1', 0, limits)
  onTestFinished(() => server.close())
  return server
}

function open({ url }: RunningServer, bytes = ''): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
  })
  socket.write(bytes)
  return socket
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n'
const REQUEST = `${GET}\r\n`
const CLOSING = `${GET}Connection: close\r\n\r\n`

/** Answers its path, after a turn of the event loop or two. */
const tellPath: HttpApp['fetch'] = async ({ url }) => {
  await new Promise(resolve => setTimeout(resolve, 5))
  return new Response(new URL(url).pathname.padEnd(40_000))
}

const statusesIn = (answers: string): string[] =>
  answers.match(/HTTP\/1\.1 \d+/g)?.map(line => line.slice(9)) ?? []

const errorIn = (answers: string) =>
  ERROR_ENVELOPE.parse(JSON.parse(answers.slice(answers.lastIndexOf('\r\n\r\n') + 4))).error

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
