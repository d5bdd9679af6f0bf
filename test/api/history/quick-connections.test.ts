// Connections on the way past Node's own HTTP: what they wait for, when they are handed over, and how they end.
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { AtOnceAnswer } from '#api/wire/at-once.ts'
import {
  open,
  QUICK_BODY,
  QUICK_PATH,
  say,
  start,
  statusesIn,
  tellPath,
} from '../../support/http/raw-server.ts'

const QUICK = `GET ${QUICK_PATH} HTTP/1.1\r\nHost: a\r\n\r\n`
const SLOW = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'
const LAST = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

describe('a connection', () => {
  test('that was answered at once is handed over at the first request that needs the app, and nothing is lost', async () => {
    const server = await start(tellPath)
    const told = await text(open(server, QUICK + QUICK + SLOW + LAST))
    expect(statusesIn(told)).toEqual(['200', '200', '200', '200'])
    const apart = (await say(server, QUICK, QUICK, SLOW + QUICK, LAST)) ?? ''
    expect(statusesIn(apart)).toEqual(['200', '200', '200', '200', '200'])
    expect(apart.indexOf('/slow')).toBeGreaterThan(apart.indexOf(QUICK_BODY))
    expect(apart.lastIndexOf(QUICK_BODY)).toBeGreaterThan(apart.indexOf('/slow'))
    expect(apart.indexOf('/last')).toBeGreaterThan(apart.lastIndexOf(QUICK_BODY))
  })

  test('ends when its client has said all and was answered', async () => {
    const server = await start(tellPath)
    const socket = open(server)
    socket.end(QUICK)
    expect(await text(socket)).toContain(QUICK_BODY)
  })

  test('that never asks is closed without a word, as one that rests too long', async () => {
    const server = await start(tellPath, { headersMs: 30, keepAliveMs: 60_000 })
    expect(await text(open(server))).toBe('')
    const resting = await start(tellPath, { keepAliveMs: 30 })
    expect(await text(open(resting, QUICK))).toContain(QUICK_BODY)
  })

  test('beyond the limit hears 503, however quick its answer would be', async () => {
    const server = await start(tellPath, { connections: 1 })
    const first = open(server, QUICK)
    await once(first, 'data')
    expect(statusesIn(await text(open(server, QUICK)))).toEqual(['503'])
  })
})

describe('an answer that is being made', () => {
  const MADE: AtOnceAnswer = {
    status: 200,
    fields: ['content-length', '4'],
    body: Uint8Array.from(Buffer.from('made')),
    ms: 0,
  }

  /** A server whose answers are held back until they are given. */
  async function startHeld() {
    const { promise: asked, resolve: tellAsked } = Promise.withResolvers<void>()
    const { promise, resolve: give, reject: fail } = Promise.withResolvers<AtOnceAnswer | null>()
    const server = await start(tellPath, {}, ({ path }) => {
      if (path !== '/held') return null
      tellAsked()
      return promise
    })
    return { server, asked, give, fail }
  }
  const HELD = QUICK.replace(QUICK_PATH, '/held')

  test('comes before the answers to what is asked after it', async () => {
    const { server, asked, give } = await startHeld()
    const socket = open(server, HELD)
    await asked
    socket.write(LAST)
    setTimeout(give, 20, MADE)
    expect(await text(socket)).toMatch(/made.*\/last/s)
  })

  test('is left to the app where it fails, or is none', async () => {
    for (const settle of ['fail', 'give'] as const) {
      const held = await startHeld()
      const socket = open(held.server, HELD)
      await held.asked
      if (settle === 'give') held.give(null)
      else held.fail(new Error('failed'))
      socket.write(LAST)
      expect(await text(socket)).toMatch(/\/held.*\/last/s)
    }
  })

  test('goes out whole when the server is asked to end meanwhile', async () => {
    const { server, asked, give } = await startHeld()
    const socket = open(server, HELD)
    await asked
    const closed = server.close()
    setTimeout(give, 20, MADE)
    expect(await text(socket)).toMatch(/Connection: close\r\n\r\nmade$/)
    await closed
  })

  test('reaches who has said all and waits for it', async () => {
    const { server, asked, give } = await startHeld()
    const socket = open(server)
    socket.end(HELD)
    await asked
    setTimeout(give, 20, MADE)
    expect(await text(socket)).toMatch(/made$/)
  })

  test('is left to the app, too, where it fails at once', async () => {
    const server = await start(tellPath, {}, () => {
      throw new Error('failed')
    })
    expect(await text(open(server, LAST))).toMatch(/\/last/)
    expect(await text(open(server, HELD + LAST))).toMatch(/\/held.*\/last/s)
  })

  test('is for nobody when its client has gone', async () => {
    const { server, asked, give } = await startHeld()
    const socket = open(server, HELD)
    await asked
    socket.resetAndDestroy()
    await new Promise(resolve => setTimeout(resolve, 20))
    give(MADE)
    expect(await text(open(server, QUICK + LAST))).toContain('/last')
  })
})

describe('a client that asks and does not read', () => {
  const BODY = Uint8Array.from(Buffer.alloc(1 << 20, 'x'))
  const LARGE: AtOnceAnswer = {
    ...{ status: 200, fields: ['content-length', String(BODY.length)], body: BODY, ms: 0 },
  }
  const ASKED = 40 // more than the buffers of a connection hold

  test('is not listened to meanwhile, and gets everything when it reads again', async () => {
    let answered = 0
    const server = await start(tellPath, {}, () => {
      answered++
      return LARGE
    })
    const socket = open(server)
    await once(socket, 'connect')
    let asked = 0
    while (asked < ASKED && answered === asked) {
      socket.write(QUICK)
      asked++
      for (let looks = 0; looks < 50 && answered < asked; looks++) await new Promise(setImmediate)
    }
    expect(answered).toBeLessThan(ASKED)
    let bytes = 0
    socket.on('data', chunk => {
      bytes += chunk.length
      if (bytes >= asked * BODY.length) socket.end()
    })
    await once(socket, 'close')
    expect(bytes).toBeGreaterThan(asked * BODY.length)
  })

  test('is cut off when it stands still for too long', async () => {
    const server = await start(tellPath, { stalledMs: 30 }, () => LARGE)
    const socket = open(server)
    const closed = new Promise(resolve => socket.on('error', () => {}).once('close', resolve))
    await once(socket, 'connect')
    for (let i = 0; i < ASKED; i++) {
      socket.write(QUICK)
      await new Promise(resolve => setTimeout(resolve, 1))
    }
    await new Promise(resolve => setTimeout(resolve, 300)) // ten times as long as it may stand still
    let bytes = 0
    socket.on('data', chunk => {
      bytes += chunk.length
    })
    await closed
    expect(bytes).toBeLessThan(ASKED * BODY.length)
  })
})

describe('a server that is asked to end', () => {
  test('ends connections that rest on the quick way, and lets an answer out that is on its way', async () => {
    const body = Uint8Array.from(Buffer.alloc(50_000_000, 'x')) // more than the buffers of any socket hold
    const fields = ['content-length', String(body.length)]
    const server = await start(tellPath, {}, ({ path }) =>
      path === '/large'
        ? { status: 200, fields, body, ms: 0 }
        : { status: 200, fields: ['content-length', '0'], body: null, ms: 0 },
    )
    const resting = open(server, QUICK)
    await once(resting, 'data')
    const slow = open(server, QUICK.replace(QUICK_PATH, '/large'))
    await once(slow, 'readable') // and nothing is read yet
    const closed = server.close()
    expect(await text(resting)).toBe('')
    const told = await text(slow)
    expect(told.length - told.indexOf('\r\n\r\n') - 4).toBe(body.length)
    await closed
  })

  test('cuts off an answer that nobody fetches when the time is over', async () => {
    const body = Uint8Array.from(Buffer.alloc(50_000_000, 'x'))
    const answer = { status: 200, fields: ['content-length', String(body.length)], body, ms: 0 } as const
    const server = await start(tellPath, { drainMs: 50 }, () => answer)
    const slow = open(server, QUICK)
    slow.on('error', () => {})
    await once(slow, 'readable')
    await server.close()
  })
})
