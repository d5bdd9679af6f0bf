// Answers that the HTTP client cannot process are failures of their receiver, and never an internal fault.
import { expect, test } from 'vitest'
import type { Outcome } from '#signals/delivery/outcome.ts'
import {
  type RawOptions,
  RECEIVER_CERTIFICATE,
  rawAnswer,
  startRawReceiver,
} from '../../support/signals/raw-receiver.ts'
import { createTestSender, postTo } from '../../support/signals/sender.ts'

/** Sends twice to a receiver that answers in these pieces, each once the one before has left, and then ends. */
async function outcomesOf(pieces: readonly string[], options?: RawOptions): Promise<readonly Outcome[]> {
  const receiver = await startRawReceiver((socket, { head }) => {
    const isLast = head.includes('/second')
    const write = ([first, ...rest]: readonly string[]): void => {
      if (first !== undefined) socket.write(first, () => setImmediate(write, rest))
      else if (isLast) socket.end()
    }
    write(pieces)
  }, options)
  const sender = createTestSender({ ca: RECEIVER_CERTIFICATE })
  return [
    await sender.send(postTo(`${receiver.origin}/first`)),
    await sender.send(postTo(`${receiver.origin}/second`)),
  ]
}

test.each([
  ['000', 'HTTP/1.1 000 None\r\ncontent-length: 0\r\n\r\n'],
  ['000 without a length', 'HTTP/1.1 000 None\r\n\r\n'],
  ['001 with a body', 'HTTP/1.1 001 None\r\ncontent-length: 2\r\n\r\nok'],
  ['099 in chunks', 'HTTP/1.1 099 None\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
  ['101 without an upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ['101 with half an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n'],
  ['101 before 200', `HTTP/1.1 101 Switching Protocols\r\n\r\n${rawAnswer(200)}`],
  ['102 with a body', `HTTP/1.1 102 Processing\r\ncontent-length: 3\r\n\r\nabc${rawAnswer(200)}`],
  ['1000', 'HTTP/1.1 1000 Much\r\ncontent-length: 0\r\n\r\n'],
  ['no status', 'HTTP/1.1\r\n\r\n'],
  ['a request', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n'],
])('an answer that no client expects, such as %s, is a failed attempt, each time', async (_, answer) => {
  const bad = { kind: 'failed', reason: 'bad_answer', status: null }
  expect(await outcomesOf([answer])).toMatchObject([bad, bad])
})

test('an answer of 101 with an upgrade that nobody requested is a failed attempt', async () => {
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
  expect(await outcomesOf([upgrade])).toMatchObject([{ kind: 'failed' }, { kind: 'failed' }])
})

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const delivered = { kind: 'delivered', status: 200, excerpt: 'ok' }

test.each([
  ['before it', [CONTINUE, rawAnswer(200, 'ok')]],
  ['in one piece with it', [CONTINUE + rawAnswer(200, 'ok')]],
  ['in pieces', [...(CONTINUE + rawAnswer(200, 'ok'))]],
  ['with headers', [`HTTP/1.1 100 Continue\r\ndate: now\r\n\r\n${rawAnswer(200, 'ok')}`]],
  ['many times', [CONTINUE.repeat(20), rawAnswer(200, 'ok')]],
  ['and 103', [`${CONTINUE}HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n`, rawAnswer(200, 'ok')]],
])('100 Continue does not spoil a success, %s', async (_, pieces) => {
  for (const tls of [false, true])
    expect(await outcomesOf(pieces, { tls })).toMatchObject([delivered, delivered])
})

test('100 Continue at the beginning of a body is a part of it', async () => {
  const [outcome] = await outcomesOf([rawAnswer(200, CONTINUE).slice(0, -CONTINUE.length), CONTINUE])
  expect(outcome).toMatchObject({ kind: 'delivered', excerpt: 'HTTP/1.1 100 Continue ' })
})

test('100 Continue before a refusal leaves a refusal, and alone is no answer', async () => {
  expect((await outcomesOf([CONTINUE, rawAnswer(503)]))[0]).toMatchObject({ kind: 'failed', status: 503 })
  const alone = await startRawReceiver(socket => socket.end(CONTINUE))
  const sender = createTestSender()
  const lost = { kind: 'failed', reason: 'connection_lost' }
  expect(await sender.send(postTo(alone.origin))).toMatchObject(lost)
})
