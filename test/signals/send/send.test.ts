// One attempt against real receivers on loopback: honest ones, slow ones, broken ones and hostile ones.
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { ConnectOptions } from '#signals/send/guarded-connect.ts'
import type { Outcome } from '#signals/send/outcome.ts'
import {
  ATTEMPT_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  KEPT_ANSWER_CHARACTERS,
  UNPROVEN_FAULT_MS,
} from '#signals/send/policy.ts'
import { createSendSignal, type Post } from '#signals/send/send.ts'
import { createWebhookSecret } from '#signals/send/sign.ts'
import {
  type RawAnswer,
  type RawOptions,
  type RawReceiver,
  RECEIVER_CERTIFICATE,
  rawAnswer,
  startRawReceiver,
} from '../../support/signals/raw-receiver.ts'
import { createTestSender, postTo, type TestSender } from '../../support/signals/sender.ts'

/** What comes of one delivery to a receiver that answers so. */
async function outcomeOf(answer: RawAnswer, more?: Partial<Post>): Promise<Outcome> {
  const { origin } = await startRawReceiver(answer)
  return createTestSender().send(postTo(`${origin}/hook`, more))
}

const saying =
  (text: string | Buffer): RawAnswer =>
  socket => {
    socket.write(text)
  }

/** Sends to a receiver that stalls, lets the attempt's time run out once `isStalled`, and gives the outcome. */
async function outcomeOfStall(
  answer: RawAnswer,
  isStalled: (receiver: RawReceiver, sender: TestSender) => boolean,
): Promise<Outcome> {
  const receiver = await startRawReceiver(answer)
  const sender = createTestSender()
  const outcome = sender.send(postTo(receiver.origin))
  await expect.poll(() => isStalled(receiver, sender)).toBe(true)
  sender.clock.ms += ATTEMPT_TIMEOUT_MS
  expect(sender.expire(ATTEMPT_TIMEOUT_MS)).toBe(1)
  const ended = await outcome
  await expect.poll(receiver.open).toBe(0)
  return ended
}

test('a delivery is one POST of exactly these bytes and headers, to the path and the query of the URL', async () => {
  const receiver = await startRawReceiver(saying(rawAnswer(200, 'thanks')))
  const sender = createTestSender()
  const post = postTo(`${receiver.origin}/a/b?c=d%20e#f`)
  expect(await sender.send(post)).toEqual({
    kind: 'delivered',
    status: 200,
    first_byte_ms: 0,
    total_ms: 0,
    retryAfterMs: null,
    excerpt: 'thanks',
  })
  const [request] = receiver.requests
  expect(receiver.requests).toHaveLength(1)
  expect(request?.head).toMatch(/^POST \/a\/b\?c=d%20e HTTP\/1\.1\r\n/)
  expect(request?.head).toContain('content-type: application/json')
  expect(request?.head).toContain('x-signal-seq: 7')
  expect(request?.head).toContain('accept-encoding: identity')
  expect(request?.body).toEqual(Buffer.from(post.body))
})

test('a signal is sent with the headers of the endpoint beside its own, and an answer that repeats them is kept without their values', async () => {
  const receiver = await startRawReceiver(
    saying(rawAnswer(403, 'no: Bearer of-the-gateway, or of-the-gateway, for tenant-blue')),
  )
  const send = createSendSignal(createTestSender(), () => 0)
  const secret = createWebhookSecret(() => new Uint8Array(32))
  const signal = { seq: 7, body: '{"signal_id":"one"}', alias: 'alder', onlyFor: null, atMs: 0 }
  const headers = { Authorization: 'Bearer of-the-gateway', 'X-Tenant': 'tenant-blue' }
  const order = { url: `${receiver.origin}/`, secrets: [secret], headers, signal, prevSeq: 6, attempt: 1 }
  expect(await send(order)).toMatchObject({ excerpt: 'no: [redacted], or [redacted], for [redacted]' })
  const head = receiver.requests[0]?.head
  for (const line of [
    'authorization: Bearer of-the-gateway',
    'x-tenant: tenant-blue',
    'x-signal-seq: 7',
    'x-prev-seq: 6',
  ])
    expect(head).toContain(`\r\n${line}\r\n`)
})

test.each([
  ...[200, 201, 202, 204, 299].map(status => ['delivered', status] as const),
  ...[300, 301, 304, 400, 401, 404, 410, 429, 500, 503].map(status => ['failed', status] as const),
])('a delivery has %s if it is answered with %i', async (kind, status) => {
  const isBare = status === 204 || status === 304
  const answer = isBare ? `HTTP/1.1 ${status} Without\r\n\r\n` : rawAnswer(status)
  const reason = kind === 'failed' ? { reason: 'status' } : {}
  expect(await outcomeOf(saying(answer))).toMatchObject({ kind, status, ...reason })
})

test.each([301, 302, 303, 307, 308])('a delivery that is redirected with %i goes nowhere', async status => {
  const target = await startRawReceiver(saying(rawAnswer(200)))
  for (const location of [`${target.origin}/`, 'http://169.254.169.254/latest/meta-data/']) {
    const outcome = await outcomeOf(saying(rawAnswer(status, '', [`location: ${location}`])))
    expect(outcome).toMatchObject({ kind: 'failed', reason: 'status', status })
  }
  expect(target.connections()).toBe(0)
})

test('a delivery has the times to the head and to the end of the answer', async () => {
  const sender = createTestSender()
  let finish = () => {}
  const { origin } = await startRawReceiver(socket => {
    sender.clock.ms += 25
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no')
    finish = () => socket.write('k')
  })
  const outcome = sender.send(postTo(origin))
  await expect.poll(() => sender.clock.reads).toBe(2)
  sender.clock.ms += 100
  finish()
  expect(await outcome).toMatchObject({ kind: 'delivered', first_byte_ms: 25, total_ms: 125, excerpt: 'ok' })
})

test.each([
  [429, '120', 120_000],
  [503, '0', 0],
  [503, 'Sat, 21 Nov 2026 00:02:00 GMT', 120_000],
  [429, 'Fri, 20 Nov 2026 00:00:00 GMT', 0],
  [429, '-5', null],
  [429, 'soon', null],
  [429, '99999999999999', null],
  [429, 'Sat, 99 Nov 2026 00:02:00 GMT', null],
  [500, '120', null],
])(
  'a delivery that is answered with %i and Retry-After %s is to wait %s ms',
  async (status, value, retryAfterMs) => {
    const outcome = await outcomeOf(saying(rawAnswer(status, '', [`retry-after: ${value}`])))
    expect(outcome).toMatchObject({ kind: 'failed', status, retryAfterMs })
  },
)

test('a receiver that stalls before its answer has failed at the deadline', async () => {
  const outcome = await outcomeOfStall(
    () => {},
    receiver => receiver.requests.length === 1,
  )
  expect(outcome).toEqual({
    kind: 'failed',
    reason: 'timeout',
    status: null,
    retryAfterMs: null,
    first_byte_ms: null,
    total_ms: ATTEMPT_TIMEOUT_MS,
    excerpt: '',
  })
})

test('a receiver that stalls inside of its answer has failed, although it answered 200', async () => {
  const outcome = await outcomeOfStall(
    saying('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'),
    (_, sender) => sender.clock.reads === 2,
  )
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'timeout', status: 200, first_byte_ms: 0 })
})

test('a receiver that sends a byte now and then has failed at the deadline, not a while after the last byte', async () => {
  let dribbled = 0
  const outcome = await outcomeOfStall(
    socket => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10000\r\n\r\n')
      const drip = setInterval(() => {
        dribbled++
        socket.write('.')
      }, 1)
      socket.once('close', () => clearInterval(drip))
    },
    (_, sender) => sender.clock.reads === 2 && dribbled > 20,
  )
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'timeout', status: 200 })
})

test('a receiver that stalls before TLS is made has failed when the time for connecting is over', async () => {
  const silent = await startRawReceiver(() => {})
  const sender = createTestSender()
  const outcome = sender.send(postTo(`https://receiver.test:${silent.port}/`))
  await expect.poll(silent.connections).toBe(1)
  expect(sender.expire(CONNECT_TIMEOUT_MS)).toBe(1)
  expect(await outcome).toMatchObject({ kind: 'failed', reason: 'connect_timeout', status: null })
  await expect.poll(silent.open).toBe(0)
})

test('a receiver whose name server answers after the deadline is sent nothing afterwards', async () => {
  const answer = Promise.withResolvers<readonly string[]>()
  const resolveHost: ConnectOptions['resolveHost'] = () => answer.promise
  const sender = createTestSender({ resolveHost, ca: RECEIVER_CERTIFICATE })
  const secure = await startRawReceiver(saying(rawAnswer(200)), { tls: true })
  const late = sender.send(postTo(secure.origin))
  expect(sender.expire(ATTEMPT_TIMEOUT_MS)).toBe(1)
  expect(await late).toMatchObject({ kind: 'failed', reason: 'timeout', status: null })
  answer.resolve(['127.0.0.1'])
  const next = postTo(secure.origin, { headers: { 'x-signal-seq': '8' } })
  expect(await sender.send(next)).toMatchObject({ kind: 'delivered' })
  expect(secure.requests.map(({ head }) => /x-signal-seq: (\d)/.exec(head)?.[1])).toEqual(['8'])
})

const MEGABYTE = 1024 * 1024

/** Writes until the other side hangs up. */
function flood(socket: Socket, chunk: string): void {
  const pour = (): void => {
    while (!socket.destroyed && socket.write(chunk)) {}
  }
  socket.on('drain', pour)
  pour()
}

test('a receiver whose answer never ends is cut off, and its 200 stands', async () => {
  const receiver = await startRawReceiver(socket => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    flood(socket, `10000\r\n${'a '.repeat(0x8000)}\r\n`)
  })
  const outcome = await createTestSender().send(postTo(receiver.origin))
  expect(outcome).toMatchObject({ kind: 'delivered', status: 200 })
  expect(outcome).toHaveProperty('excerpt', 'a '.repeat(KEPT_ANSWER_CHARACTERS / 2))
  await expect.poll(receiver.open).toBe(0)
})

test('a receiver whose error is too long is cut off, and has failed', async () => {
  const outcome = await outcomeOf(saying(rawAnswer(500, 'e '.repeat(5 * MEGABYTE))))
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'status', status: 500 })
})

test('a compressed answer of a receiver is not decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(10 * MEGABYTE))
  const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`
  const outcome = await outcomeOf(saying(Buffer.concat([Buffer.from(head), bomb])))
  expect(outcome).toMatchObject({ kind: 'delivered', excerpt: '(compressed, not read)' })
})

test('a receiver whose headers are too long has failed', async () => {
  const outcome = await outcomeOf(saying(rawAnswer(200, '', [`x-more: ${'a'.repeat(20_000)}`])))
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'bad_answer', status: null })
})

test.each<[string, RawAnswer]>([
  ['resets', socket => socket.resetAndDestroy()],
  ['closes without an answer', socket => socket.end()],
  ['closes inside of the head', socket => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
  [
    'closes before it said all that it promised',
    socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
  ],
  [
    'closes inside of a chunk',
    socket => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nha'),
  ],
  ['changes the protocol', saying('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
])('a receiver that %s has failed, and is not asked again', async (_, answer) => {
  const receiver = await startRawReceiver(answer)
  const outcome = await createTestSender().send(postTo(receiver.origin))
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'connection_lost' })
  expect(receiver.requests).toHaveLength(1)
})

test('a connection to a receiver is used again while it is open', async () => {
  const receiver = await startRawReceiver(saying(rawAnswer(200)))
  const sender = createTestSender()
  for (let i = 0; i < 5; i++)
    expect(await sender.send(postTo(receiver.origin))).toMatchObject({ kind: 'delivered' })
  // One may still be busy with its end when the next delivery asks.
  expect(receiver.connections()).toBeLessThanOrEqual(2)
})

test('a request on a connection that the receiver drops when it is used again is made again at once on a new one', async () => {
  const receiver = await startRawReceiver(socket => {
    if (receiver.requests.length === 2) socket.resetAndDestroy()
    else socket.write(rawAnswer(200))
  })
  const sender = createTestSender()
  for (let i = 0; i < 2; i++) {
    expect(await sender.send(postTo(receiver.origin))).toMatchObject({ kind: 'delivered' })
    await new Promise(resolve => setTimeout(resolve, 10)) // the connection is idle then
  }
  expect(receiver.requests).toHaveLength(3)
  expect(receiver.connections()).toBe(2)
})

test('a connection that the receiver closes after each answer never makes a delivery of what did not arrive', async () => {
  const receiver = await startRawReceiver(socket => socket.end(rawAnswer(200)))
  const sender = createTestSender()
  let delivered = 0
  for (let i = 0; i < 50; i++) {
    const outcome = await sender.send(postTo(receiver.origin))
    if (outcome.kind === 'delivered') delivered++
    else expect(outcome).toMatchObject({ kind: 'failed', reason: 'connection_lost' })
    expect(receiver.requests.length).toBeGreaterThanOrEqual(delivered)
  }
  expect(delivered).toBeGreaterThan(0)
})

const secure = () => startRawReceiver(saying(rawAnswer(200)), { tls: true })

test('a receiver with a good certificate is delivered to over TLS', async () => {
  const { origin } = await secure()
  const sender = createTestSender({ ca: RECEIVER_CERTIFICATE })
  expect(await sender.send(postTo(origin))).toMatchObject({ kind: 'delivered', status: 200 })
})

test.each([
  ['is not trusted', {}, ['receiver.test']],
  [
    'is for another name, or for no address,',
    { ca: RECEIVER_CERTIFICATE },
    ['other.test', '127.0.0.1', 'localhost'],
  ],
])('a receiver whose certificate %s is sent nothing', async (_, trust, hosts) => {
  const receiver = await secure()
  const sender = createTestSender(trust)
  for (const host of hosts) {
    const outcome = await sender.send(postTo(`https://${host}:${receiver.port}/`))
    expect(outcome).toMatchObject({ kind: 'failed', reason: 'tls_failed' })
  }
  expect(receiver.requests).toEqual([])
})

test('a receiver that speaks plain HTTP instead of TLS has failed', async () => {
  const plain = await startRawReceiver(saying(rawAnswer(200)), {
    onConnection: socket => socket.write(rawAnswer(200)),
  })
  const outcome = await createTestSender().send(postTo(`https://receiver.test:${plain.port}/`))
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'tls_failed' })
})

test('a resolver that does not answer, or not in time, is a fault of ours for an hour; a name that does not exist is not', async () => {
  const url = 'https://hooks.example.org/'
  const down = createTestSender({ resolveHost: async () => 'unanswered' })
  expect(await down.send(postTo(url))).toEqual({ kind: 'ourFault', reason: 'resolver_down' })
  down.clock.ms += UNPROVEN_FAULT_MS
  expect(await down.send(postTo(url))).toMatchObject({ kind: 'failed', reason: 'name_unanswered' })
  const slow = createTestSender({ resolveHost: () => new Promise(() => {}) })
  const outcome = slow.send(postTo(url))
  await expect.poll(() => slow.expire(CONNECT_TIMEOUT_MS)).toBe(1)
  expect(await outcome).toEqual({ kind: 'ourFault', reason: 'resolver_down' })
  const unknown = createTestSender({ resolveHost: async () => 'unknown' })
  expect(await unknown.send(postTo(url))).toMatchObject({ kind: 'failed', reason: 'name_unknown' })
})

test('a delivery that a shutdown interrupts, or that comes after it, is a fault of ours', async () => {
  const receiver = await startRawReceiver(() => {})
  const sender = createTestSender()
  const underWay = [sender.send(postTo(receiver.origin)), sender.send(postTo(receiver.origin))]
  await expect.poll(() => receiver.requests.length).toBe(2)
  await sender.close()
  for (const outcome of await Promise.all(underWay)) {
    expect(outcome).toEqual({ kind: 'ourFault', reason: 'shutting_down' })
  }
  expect(await sender.send(postTo(receiver.origin))).toEqual({ kind: 'ourFault', reason: 'shutting_down' })
  await expect.poll(receiver.open).toBe(0)
  expect(sender.expire(ATTEMPT_TIMEOUT_MS)).toBe(0)
})

test('an error of this program is thrown, and is no outcome of a delivery', async () => {
  const { origin } = await startRawReceiver(saying(rawAnswer(200)))
  const post = postTo(origin, { headers: { 'x-broken': 'a\r\nb' } })
  await expect(createTestSender().send(post)).rejects.toThrow('invalid')
})

test('an address that is not allowed is refused at the time of sending, whatever was saved, and is not resolved or reached', async () => {
  const receiver = await startRawReceiver(saying(rawAnswer(200)))
  let asked = 0
  const resolveHost = async () => {
    asked++
    return ['127.0.0.1']
  }
  const sender = createTestSender({ rules: { allowLoopback: false }, resolveHost })
  for (const url of [receiver.origin, 'https://[::ffff:127.0.0.1]/', 'https://2130706433/', 'not a url']) {
    expect(await sender.send(postTo(url))).toMatchObject({ kind: 'failed', reason: 'address_refused' })
  }
  expect(asked).toBe(0)
  expect(await sender.send(postTo('https://hooks.example.org/'))).toMatchObject({
    reason: 'address_refused',
  })
  expect(asked).toBe(1)
  expect(receiver.connections()).toBe(0)
})

const keptOf = async (said: string, post: Partial<Post> = {}): Promise<string> => {
  const outcome = await outcomeOf(saying(rawAnswer(400, said)), post)
  return outcome.kind === 'failed' ? outcome.excerpt : ''
}

test.each([
  ['whsec_c2Vj%2BcmV0', 'unknown secret [redacted]'],
  ['hw_live_abcdefgh_x_y', 'unknown secret [redacted]'],
  ['hw_op_abc-def', 'unknown secret [redacted]'],
  ['Bearer abc.def', 'unknown secret [redacted]'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', 'unknown secret [redacted]'],
  ['0123456789abcdef'.repeat(4), 'unknown secret [redacted]'],
  ['"api_key": "k1"', 'unknown secret "api_key": "[redacted]"'],
  ['token=abc&x=1', 'unknown secret token=[redacted]&x=1'],
])('the kept part of an answer has no %s', async (secret, expected) => {
  expect(await keptOf(`unknown secret ${secret}`)).toBe(expected)
})

test('the kept part of an answer has none of our secrets, although the receiver quotes them, and not even half of one at the cut', async () => {
  const secrets = ['whsec_short', 'plain-secret']
  expect(await keptOf('you sent plain-secret', { secrets })).toBe('you sent [redacted]')
  const atTheCut = 'a '.repeat(KEPT_ANSWER_CHARACTERS / 2 - 3) + 'plain-secret'
  expect(await keptOf(atTheCut, { secrets })).not.toContain('plain')
})

test('the kept part of an answer has no secret of the URL', async () => {
  const { origin } = await startRawReceiver(
    saying(rawAnswer(404, 'no route /services/T00000000B11 for key-of-the-hook')),
  )
  const outcome = await createTestSender().send(postTo(`${origin}/services/T00000000B11?k=key-of-the-hook`))
  expect(outcome).toMatchObject({ excerpt: 'no route /services/[redacted] for [redacted]' })
})

test('the kept part of an answer has no character that acts on a terminal or a log, and is well-formed', async () => {
  expect(await keptOf('a\u001b[31mred\r\nlevel=50\u202eb\u0000')).toBe('a [31mred level=50 b ')
  const kept = await keptOf('🔑'.repeat(KEPT_ANSWER_CHARACTERS))
  expect(kept.isWellFormed()).toBe(true)
  expect(kept.length).toBeLessThanOrEqual(KEPT_ANSWER_CHARACTERS)
})

test('the kept part of an answer is made in linear time, whatever the answer was', async () => {
  for (const said of [
    ' '.repeat(20_000),
    '-ey'.repeat(7_000),
    'token '.repeat(3_000),
    'bearer  '.repeat(2_000),
  ]) {
    expect((await keptOf(said)).length).toBeLessThanOrEqual(KEPT_ANSWER_CHARACTERS)
  }
})

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
  ['a word', 'what?\r\n\r\n'],
  ['the greeting of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['a status that is none', 'HTTP/1.1 abc OK\r\n\r\n'],
  ['a length below 0', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na'],
  ['a chunk without a length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n'],
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
  const bad = { kind: 'failed', reason: 'bad_answer' }
  expect(await outcomesOf([answer])).toMatchObject([bad, bad])
})

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const delivered = { kind: 'delivered', status: 200, excerpt: 'ok' }

test.each([
  ['before it', [CONTINUE, rawAnswer(200, 'ok')]],
  ['in one piece with it', [CONTINUE + rawAnswer(200, 'ok')]],
  ['in pieces', [...(CONTINUE + rawAnswer(200, 'ok'))]],
  ['with headers', [`HTTP/1.1 100 Continue\r\ndate: now\r\n\r\n${rawAnswer(200, 'ok')}`]],
  ['many times', [CONTINUE.repeat(20), rawAnswer(200, 'ok')]],
  ['as 103', [`HTTP/1.1 103 Early Hints\r\n\r\n${rawAnswer(200, 'ok')}`]],
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
