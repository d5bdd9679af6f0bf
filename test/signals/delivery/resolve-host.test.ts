// The resolver against a real name server on loopback, which says what a test wants.
import { createSocket } from 'node:dgram'
import { expect, test } from 'vitest'
import { createHostResolver } from '#signals/delivery/resolve-host.ts'
import { atEnd } from '../../support/ends.ts'

type Question = { readonly name: string; readonly type: 'A' | 'AAAA' }

/** Addresses as bytes, or an error by its number (RFC 1035, 4.1.1). */
type Reply = { readonly records: readonly (readonly number[])[] } | { readonly rcode: number }

const NOTHING: Reply = { records: [] }
const SERVFAIL = 2
const NXDOMAIN = 3
const REFUSED = 5

const HEAD_BYTES = 12
const TYPES: Readonly<Record<number, Question['type']>> = { 1: 'A', 28: 'AAAA' }

/** Starts a server and gives its address and what it was asked. */
async function startNameServer(answer: (question: Question) => Reply) {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, from) => {
    const question = readQuestion(query)
    asked.push(`${question.type} ${question.name}`)
    socket.send(writeReply(query, answer(question)), from.port, from.address)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  atEnd(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

function readQuestion(query: Buffer): Question {
  const labels: string[] = []
  let at = HEAD_BYTES
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: TYPES[query.readUInt16BE(at + 1)] ?? 'A' }
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

const V6 = [0x26, 0x06, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]

test('a host is found with all of its addresses, IPv4 before IPv6', async () => {
  const { address, asked } = await startNameServer(({ type }) => ({
    records:
      type === 'A'
        ? [
            [93, 184, 216, 34],
            [10, 0, 0, 1],
          ]
        : [V6],
  }))
  const resolveHost = createHostResolver([address])
  expect(await resolveHost('hooks.example.org')).toEqual({
    kind: 'found',
    addresses: ['93.184.216.34', '10.0.0.1', '2606:4700::1'],
  })
  expect(asked.toSorted()).toEqual(['A hooks.example.org', 'AAAA hooks.example.org'])
})

test('a host with addresses of one family is found, whatever the answer for the other', async () => {
  for (const other of [NOTHING, { rcode: SERVFAIL }, { rcode: NXDOMAIN }]) {
    const { address } = await startNameServer(({ type }) => (type === 'AAAA' ? { records: [V6] } : other))
    expect(await createHostResolver([address])('v6.example.org')).toEqual({
      kind: 'found',
      addresses: ['2606:4700::1'],
    })
  }
})

test.each([
  ['that is not there', { rcode: NXDOMAIN }],
  ['without an address', NOTHING],
  ['whose zone is broken', { rcode: SERVFAIL }],
  ['that a server refuses to resolve', { rcode: REFUSED }],
])('a host %s is unknown, which is a fault of its owner', async (_, reply) => {
  const { address } = await startNameServer(() => reply)
  expect(await createHostResolver([address])('gone.example.org')).toEqual({ kind: 'unknown' })
})

test('a name server that does not exist is a fault of ours, and stays one', async () => {
  const resolveHost = createHostResolver(['127.0.0.1:1']) // which no program of this machine has
  expect(await resolveHost('hooks.example.org')).toEqual({ kind: 'unanswered' })
  expect(await resolveHost('hooks.example.org')).toEqual({ kind: 'unanswered' })
})

test('a name of the machine itself is resolved like all others: its list of hosts is not used', async () => {
  const { address, asked } = await startNameServer(() => ({ rcode: NXDOMAIN }))
  expect(await createHostResolver([address])('localhost')).toEqual({ kind: 'unknown' })
  expect(asked).toContain('A localhost')
})
