// Whose fault it is that a host cannot be resolved or routed to: its own, or that of this machine.
import { connect as connectTcp, Socket } from 'node:net'
import { expect, test } from 'vitest'
import {
  type ConnectError,
  type ConnectFailure,
  createGuardedConnect,
} from '#signals/delivery/guarded-connect.ts'
import { UNPROVEN_FAULT_MS } from '#signals/delivery/policy.ts'
import type { Resolution, ResolveHost } from '#signals/delivery/resolve-host.ts'
import { rawAnswer, startRawReceiver } from '../../support/signals/raw-receiver.ts'

const FOUND: Resolution = { kind: 'found', addresses: ['127.0.0.1'] }
const UNANSWERED: Resolution = { kind: 'unanswered' }

type Connect = (hostname: string) => Promise<ConnectFailure | 'connected'>

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
    timeoutMs: 3_000,
    dial: () => {
      const code = lostBy()
      return code === null ? connectTcp({ host: '127.0.0.1', port: receiver.port }) : lostSocket(code)
    },
  })
  const connect: Connect = hostname =>
    new Promise(resolve => {
      guarded({ hostname, ...target }, (error, socket) => {
        socket?.destroy()
        resolve(error === null ? 'connected' : (error as ConnectError).failure) // fails with nothing else
      })
    })
  return connect
}

function lostSocket(code: string): Socket {
  const socket = new Socket()
  process.nextTick(() => socket.destroy(Object.assign(new Error(code), { code })))
  return socket
}

const connectorWithout = (silent: ReadonlySet<string>) =>
  startConnector(async host => (silent.has(host) ? UNANSWERED : FOUND))

test('a name without an answer is our fault as long as no other host has been connected to since', async () => {
  const connect = await connectorWithout(new Set(['a.test', 'b.test']))
  for (const host of ['a.test', 'b.test', 'a.test', 'b.test', 'a.test'])
    expect(await connect(host)).toBe('resolver_down')
})

test('a name without an answer has failed after an hour without another host, and its hour begins again after an answer', async () => {
  const silent = new Set(['a.test'])
  const connect = await connectorWithout(silent)
  for (let row = 0; row < 2; row++) {
    expect(await connect('a.test')).toBe('resolver_down')
    nowMs += UNPROVEN_FAULT_MS - 1
    expect(await connect('a.test')).toBe('resolver_down')
    nowMs += 1
    for (let i = 0; i < 3; i++) expect(await connect('a.test')).toBe('name_unanswered')
    silent.clear()
    expect(await connect('a.test')).toBe('connected')
    silent.add('a.test')
  }
})

test('a name without an answer is our fault for an hour of its own, however long another one has been silent', async () => {
  const connect = await connectorWithout(new Set(['a.test', 'b.test']))
  expect(await connect('a.test')).toBe('resolver_down')
  nowMs += UNPROVEN_FAULT_MS
  expect(await connect('b.test')).toBe('resolver_down')
  expect(await connect('a.test')).toBe('name_unanswered')
})

test.each(['127.0.0.1', 'localhost'])(
  'a name without an answer is our fault though %s is connected to without a name server',
  async here => {
    const connect = await connectorWithout(new Set(['a.test']))
    expect(await connect('a.test')).toBe('resolver_down')
    expect(await connect(here)).toBe('connected')
    expect(await connect('a.test')).toBe('resolver_down')
  },
)

test('a name without an answer has failed once another one has been connected to, until it answers again', async () => {
  const silent = new Set(['a.test'])
  const connect = await connectorWithout(silent)
  expect(await connect('b.test')).toBe('connected')
  expect(await connect('a.test')).toBe('resolver_down')
  expect(await connect('b.test')).toBe('connected')
  for (let i = 0; i < 3; i++) expect(await connect('a.test')).toBe('name_unanswered')
  silent.clear()
  expect(await connect('a.test')).toBe('connected')
  silent.add('a.test')
  expect(await connect('a.test')).toBe('resolver_down')
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
