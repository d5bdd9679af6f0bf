// Whose fault it is that a host cannot be resolved or routed to: its own, or that of this machine.

import { createSocket } from 'node:dgram'
import { connect as connectTcp, Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createGuardedConnect } from '#signals/send/guarded-connect.ts'
import type { AttemptError, AttemptFailure } from '#signals/send/outcome.ts'
import { UNPROVEN_FAULT_MS } from '#signals/send/policy.ts'
import { createHostResolver, type Resolution, type ResolveHost } from '#signals/send/resolve-host.ts'
import { atEnd } from '../../support/ends.ts'
import { rawAnswer, startRawReceiver } from '../../support/signals/raw-receiver.ts'

const FOUND: Resolution = ['127.0.0.1']
const UNANSWERED: Resolution = 'unanswered'

type Connect = (hostname: string) => Promise<AttemptFailure | 'connected'>

let nowMs = 0

/** Connects to hosts of this machine; `lostBy` is the error of the next connections, null for none. */
async function startConnector(resolveHost: ResolveHost, lostBy: () => string | null = () => null) {
  const receiver = await startRawReceiver(socket => socket.end(rawAnswer(200)))
  const target = { protocol: 'http:', port: String(receiver.port) }
  const guarded = createGuardedConnect({
    rules: { allowLoopback: true },
    resolveHost,
    now: () => nowMs,
    startTimer: () => () => {},
    dial: () => {
      const code = lostBy()
      return code === null ? connectTcp({ host: '127.0.0.1', port: receiver.port }) : lostSocket(code)
    },
  })
  const connect: Connect = hostname =>
    new Promise(resolve => {
      guarded({ hostname, ...target }, (error, socket) => {
        socket?.destroy()
        resolve(error === null ? 'connected' : (error as AttemptError).failure) // fails with nothing else
      })
    })
  return connect
}

function lostSocket(code: string): Socket {
  const socket = new Socket()
  process.nextTick(() => socket.destroy(Object.assign(new Error(code), { code })))
  return socket
}

/** A connection to a host and what comes of it, time that passes, or what becomes of the name server of `a.test`. */
type Step = readonly [host: string, outcome: Awaited<ReturnType<Connect>>] | number | 'answers' | 'silent'

const [A, B] = ['a.test', 'b.test'] as const
const [OURS, LOST, OK] = [
  [A, 'resolver_down'],
  [A, 'name_unanswered'],
  [B, 'connected'],
] as const
const OURS_TOO = [B, 'resolver_down'] as const
const BACK = ['answers', [A, 'connected'], 'silent'] as const
const HOUR = UNPROVEN_FAULT_MS
const LAST_MS = [OURS, HOUR - 1, OURS, 1, LOST, LOST] as const

test.each<[string, readonly Step[]]>([
  [
    'is our fault as long as no other host has been connected to since',
    [OURS, OURS_TOO, OURS, OURS_TOO, OURS],
  ],
  [
    'has failed after an hour without another host, and its hour begins again after an answer',
    [...LAST_MS, ...BACK, ...LAST_MS],
  ],
  [
    'is our fault for an hour of its own, however long another one has been silent',
    [OURS, HOUR, OURS_TOO, LOST],
  ],
  ['is our fault though 127.0.0.1 is connected to without a name server', [OURS, ['127.0.0.1', OK[1]], OURS]],
  ['is our fault though localhost is connected to without a name server', [OURS, ['localhost', OK[1]], OURS]],
  [
    'has failed once another one has been connected to, until it answers again',
    [OK, OURS, OK, LOST, LOST, ...BACK, OURS],
  ],
])('a name without an answer %s', async (_, steps) => {
  const silent = new Set<string>([A])
  if (!steps.includes(OK)) silent.add(B)
  const connect = await startConnector(async host => (silent.has(host) ? UNANSWERED : FOUND))
  for (const [i, step] of steps.entries())
    if (typeof step === 'number') nowMs += step
    else if (step === 'answers') silent.delete(A)
    else if (step === 'silent') silent.add(A)
    else expect([i, await connect(step[0])]).toEqual([i, step[1]])
})

test('a name without an answer has failed at once if another one is connected to while it is asked for', async () => {
  const silence = Promise.withResolvers<Resolution>()
  const connect = await startConnector(host => (host === 'a.test' ? silence.promise : Promise.resolve(FOUND)))
  const lost = connect('a.test')
  expect(await connect('b.test')).toBe('connected')
  silence.resolve(UNANSWERED)
  expect(await lost).toBe('name_unanswered')
})

test('a name without an answer is our fault though an attempt that began before is successful later', async () => {
  const answer = Promise.withResolvers<Resolution>()
  const connect = await startConnector(host =>
    host === 'a.test' ? Promise.resolve(UNANSWERED) : answer.promise,
  )
  const before = connect('b.test')
  expect(await connect('a.test')).toBe('resolver_down')
  answer.resolve(FOUND)
  expect(await before).toBe('connected')
  expect(await connect('a.test')).toBe('resolver_down')
  expect(await connect('b.test')).toBe('connected')
  expect(await connect('a.test')).toBe('name_unanswered')
})

async function connectorLosing(code: string) {
  let host = ''
  const connect = await startConnector(
    async asked => {
      host = asked
      return FOUND
    },
    () => (host === 'a.test' ? code : null),
  )
  return connect
}

test.each(['ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN', 'EACCES', 'EPERM'])(
  'an address without a route (%s) is our fault until another one is connected to, and then has failed',
  async code => {
    const connect = await connectorLosing(code)
    for (let i = 0; i < 3; i++) expect(await connect('a.test')).toBe('network_down')
    expect(await connect('b.test')).toBe('connected')
    for (let i = 0; i < 3; i++) expect(await connect('a.test')).toBe('unreachable')
  },
)

test('an address without a route has failed after an hour, though no other one has been connected to', async () => {
  const connect = await connectorLosing('ENETUNREACH')
  expect(await connect('a.test')).toBe('network_down')
  nowMs += UNPROVEN_FAULT_MS
  expect(await connect('a.test')).toBe('unreachable')
})

test.each(['EMFILE', 'ENOBUFS', 'EADDRNOTAVAIL'])(
  'an address for which this machine has no socket (%s) is our fault whatever else is connected to',
  async code => {
    const connect = await connectorLosing(code)
    expect(await connect('a.test')).toBe('too_many_connections')
    expect(await connect('b.test')).toBe('connected')
    nowMs += UNPROVEN_FAULT_MS
    expect(await connect('a.test')).toBe('too_many_connections')
  },
)

test('a failure that hits many hosts at once is ours for as long as none is connected to, and not that of one of them', async () => {
  let isDown = true
  const connect = await startConnector(
    async () => FOUND,
    () => (isDown ? 'ECONNREFUSED' : null),
  )
  expect([await connect('a.test'), await connect('b.test')]).toEqual(['connect_failed', 'connect_failed'])
  for (const host of ['c.test', 'a.test', 'b.test']) expect(await connect(host)).toBe('network_down')
  nowMs += UNPROVEN_FAULT_MS
  expect(await connect('c.test')).toBe('network_down')
  isDown = false
  expect(await connect('d.test')).toBe('connected')
  isDown = true
  expect(await connect('a.test')).toBe('connect_failed')
})

type Question = { readonly name: string; readonly type: 'A' | 'AAAA' }

/** Addresses as bytes, or an error by its number (RFC 1035, 4.1.1). */
type Reply = { readonly records: readonly (readonly number[])[] } | { readonly rcode: number }

const NOTHING: Reply = { records: [] }
const SERVFAIL = 2
const NXDOMAIN = 3
const REFUSED = 5

const HEAD_BYTES = 12
const TYPES: Readonly<Record<number, Question['type']>> = { 1: 'A', 28: 'AAAA' }

/** Starts a server, which answers so many questions at once, and gives its address and what it was asked. */
async function startNameServer(answer: (question: Question) => Reply | null, together = 1) {
  const socket = createSocket('udp4')
  const asked: string[] = []
  const replies: (() => void)[] = []
  socket.on('message', (query, from) => {
    const question = readQuestion(query)
    asked.push(`${question.type} ${question.name}`)
    const reply = answer(question)
    if (reply !== null) replies.push(() => socket.send(writeReply(query, reply), from.port, from.address))
    if (replies.length >= together) for (const send of replies.splice(0)) send()
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  atEnd(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

function readQuestion(query: Buffer): Question {
  const end = query.indexOf(0, HEAD_BYTES)
  const name = query.toString('latin1', HEAD_BYTES + 1, end).replace(/[^\w-]/g, '.') // lengths stand between labels
  return { name: name.toLowerCase(), type: TYPES[query.readUInt16BE(end + 1)] ?? 'A' }
}

function writeReply(query: Buffer, reply: Reply): Buffer {
  const end = query.indexOf(0, HEAD_BYTES) + 5 // the root label, the type and the class
  const records = 'records' in reply ? reply.records : []
  const head = Buffer.from(query.subarray(0, HEAD_BYTES))
  head.writeUInt16BE(0x8180 | ('rcode' in reply ? reply.rcode : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt32BE(0, 8)
  const answers = records.map(bytes => {
    const type = bytes.length === 4 ? 1 : 28
    return Buffer.from([0xc0, HEAD_BYTES, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes])
  })
  return Buffer.concat([head, query.subarray(HEAD_BYTES, end), ...answers])
}

const V4 = [93, 184, 216, 34]
const V6 = [0x26, 0x06, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]

test('a host is found with all of its addresses, IPv4 before IPv6', async () => {
  const { address, asked } = await startNameServer(
    ({ type }) => ({ records: type === 'A' ? [V4, [10, 0, 0, 1]] : [V6] }),
    2,
  )
  const resolveHost = createHostResolver([address])
  expect(await resolveHost('hooks.example.org')).toEqual(['93.184.216.34', '10.0.0.1', '2606:4700::1'])
  expect(new Set(asked)).toEqual(new Set(['A hooks.example.org', 'AAAA hooks.example.org']))
})

test('a host with addresses of one family is found, whatever the answer for the other', async () => {
  for (const other of [NOTHING, { rcode: SERVFAIL }, { rcode: NXDOMAIN }]) {
    const { address } = await startNameServer(({ type }) => (type === 'AAAA' ? { records: [V6] } : other))
    expect(await createHostResolver([address])('v6.example.org')).toEqual(['2606:4700::1'])
  }
})

test.each([
  ['that is not there', { rcode: NXDOMAIN }],
  ['without an address', NOTHING],
])('a host %s is unknown, which is a fault of its owner', async (_, reply) => {
  const { address } = await startNameServer(() => reply)
  expect(await createHostResolver([address])('gone.example.org')).toBe('unknown')
})

test.each([SERVFAIL, REFUSED])('a name server that answers with error %i does not answer', async rcode => {
  const { address } = await startNameServer(() => ({ rcode }))
  expect(await createHostResolver([address])('hooks.example.org')).toBe('unanswered')
})

test('a host with addresses of one family is found at once, though no server answers for the other', async () => {
  for (const silent of ['A', 'AAAA']) {
    let isFirst = true
    const { address } = await startNameServer(({ type }) => {
      if (type !== silent || !isFirst) return { records: type === 'A' ? [V4] : [V6] }
      isFirst = false // the same question is answered a second later: who waits for that has both
      return null
    })
    expect(await createHostResolver([address])('hooks.example.org')).toHaveLength(1)
  }
})

test('a name server that does not exist is a fault of ours, and stays one', async () => {
  const resolveHost = createHostResolver(['127.0.0.1:1']) // which no program of this machine has
  expect(await resolveHost('hooks.example.org')).toBe('unanswered')
  expect(await resolveHost('hooks.example.org')).toBe('unanswered')
})

test('a name of the machine itself is resolved like all others: its list of hosts is not used', async () => {
  const { address, asked } = await startNameServer(() => ({ rcode: NXDOMAIN }))
  expect(await createHostResolver([address])('localhost')).toBe('unknown')
  expect(asked).toContain('A localhost')
})
