// How a server ends: what rests ends at once, what is being answered ends with its answer, whole.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { RunningServer } from '#api/service/http-server.ts'
import { CLOSING, open as openSocket, REQUEST, start } from '../../support/http/raw-server.ts'
import { createGate } from '../../support/stores/store-doubles.ts'

async function open(server: RunningServer): Promise<Socket> {
  const socket = openSocket(server)
  await once(socket, 'connect')
  return socket
}

/** A server whose first answer is held back, and requests that wait for it. */
async function startHeld(requests = REQUEST) {
  const gate = createGate()
  const server = await start(async () => {
    await gate.pass()
    return new Response('answer')
  })
  const asking = await open(server)
  asking.write(requests)
  await gate.reached
  return { server, gate, asking }
}

test('a server that ends answers the request in flight with `Connection: close`, and ends with it', async () => {
  const { server, gate, asking } = await startHeld()
  const ended = server.close()
  gate.open()
  const answer = await text(asking) // ends when the server closes the connection
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n')
  expect(answer.endsWith('\r\n\r\nanswer')).toBe(true)
  await ended
})

test('a server that ends closes a connection without a request as soon as nothing is under way', async () => {
  const { server, gate, asking } = await startHeld()
  const silent = await open(server)
  const other = await open(server)
  other.end(REQUEST) // asks after the silent one was accepted
  const ended = server.close()
  gate.open()
  expect(await text(asking)).toContain('answer')
  expect(await text(silent)).toBe('')
  await ended
})

test('a server that ends answers every request that was sent on a connection before', async () => {
  const { server, gate, asking } = await startHeld(REQUEST.repeat(3))
  const ended = server.close()
  gate.open()
  const answers = await text(asking)
  expect(answers.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3)
  expect(answers.match(/^connection: close/gim)).toHaveLength(1)
  await ended
})

test('a server that ends closes a connection that is idle between two requests', async () => {
  const server = await start(() => new Response('answer'))
  const socket = await open(server)
  socket.write(REQUEST)
  await once(socket, 'data')
  const rest = text(socket)
  await server.close()
  expect(await rest).toBe('')
})

test('a server that ends lets a request that has only begun to arrive come in whole, and answers it', async () => {
  const server = await start(() => new Response('answer'))
  const socket = await open(server)
  socket.write(REQUEST.slice(0, 10))
  const other = await open(server)
  other.write(CLOSING)
  await text(other) // the bytes before it have arrived, too
  const ended = server.close()
  socket.write(REQUEST.slice(10))
  const answer = await text(socket)
  expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n')
  expect(answer).toContain('answer')
  await ended
})

test('a server that ends does not cut off an answer that is still on its way to a slow reader', async () => {
  const size = 50_000_000 // more than the buffers of any socket hold
  const server = await start(() => new Response(Buffer.alloc(size, 'x')))
  const socket = await open(server)
  socket.write(REQUEST)
  await once(socket, 'readable') // and nothing is read yet
  const ended = server.close()
  const answer = await text(socket)
  expect(answer.length - answer.indexOf('\r\n\r\n') - 4).toBe(size)
  await ended
})
