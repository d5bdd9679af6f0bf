// No delivery goes to a private address, however it is written and whatever a resolver says.
import { connect as connectTcp } from 'node:net'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import {
  type AddressRules,
  checkAddress,
  checkUrl,
  isPublicAddress,
  RefusedAddressError,
} from '#signals/send/address-guard.ts'
import { type ConnectOptions, establish } from '#signals/send/guarded-connect.ts'
import { AttemptError, type AttemptFailure } from '#signals/send/outcome.ts'
import type { Resolution, ResolveHost } from '#signals/send/resolve-host.ts'
import { forAll } from '#test/support/for-all.ts'
import { type RawReceiver, startRawReceiver } from '../../support/signals/raw-receiver.ts'

const STRICT: AddressRules = { allowLoopback: false }
const DEVELOPMENT: AddressRules = { allowLoopback: true }

/** Hosts that end at this machine, its network or nowhere, in every disguise that we know. */
const PRIVATE_HOSTS = `
  127.0.0.1 127.0.0.1. 127.1 127.255.255.254 2130706433 0x7f.1 0x7f000001 0177.0.0.1 017700000001 0 0.0.0.0
  １２７.0.0.1 127。0。0。1 ①②⑦.0.0.1 %31%32%37.0.0.1 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1]
  [0:0:0:0:0:ffff:7f00:0001] [::127.0.0.1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::a00:1]
  [64:ff9b:1::8.8.8.8] [2002:7f00:1::] [2002:808:808::1] [2001:0:4136:e378:8000:63bf:80ff:fffe]
  [2001:db8::1] [2001:10::1] [2620:4f:8000::1] [3fff::1] [3fff:fff::1] [fe80::1] [fec0::1] [fc00::1]
  [fd12:3456::1] [ff02::1] [100::1] [5f00::1] 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1
  169.254.169.254 100.64.0.1 192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
  240.0.0.1 255.255.255.255
`
  .trim()
  .split(/\s+/)

/** Names that mean this machine or its network. */
const PRIVATE_NAMES = `
  localhost LOCALHOST localhost. ⓛocalhost %6c%6fcalhost a.localhost redis printer.local
  metadata.google.internal router.lan nas.home.arpa example.org. example..org .example.org
`
  .trim()
  .split(/\s+/)

const messageOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof RefusedAddressError) return error.message
    throw error
  }
  return 'allowed'
}

test('a URL with a private host is refused, and the refusal has no address', () => {
  for (const host of [...PRIVATE_HOSTS, ...PRIVATE_NAMES]) {
    const message = messageOf(() => checkUrl(`https://${host}/hook`, STRICT))
    expect([host, message]).toEqual([host, expect.stringMatching(/^the webhook is refused: /)])
    expect(message).not.toMatch(/\d+\.\d+|::|7f/)
  }
})

test.each([
  ['http://hooks.example.org/', 'begins with https://'],
  ['ftp://hooks.example.org/', 'begins with https://'],
  ['file:///etc/passwd', 'begins with https://'],
  ['javascript:alert(1)', 'begins with https://'],
  ['//hooks.example.org/', 'expected a URL such as'],
  ['', 'expected a URL such as'],
  ['https://', 'expected a URL such as'],
  ['https://user@hooks.example.org/', 'no user and no password'],
  ['https://:pass@hooks.example.org/', 'no user and no password'],
  ['https://hooks.example.org@10.0.0.1/', 'no user and no password'],
  ['https://hooks.example.org:22/', 'one of the ports 443, 8443'],
  ['https://hooks.example.org:80/', 'one of the ports 443, 8443'],
  ['https://hooks.example.org:6379/', 'one of the ports 443, 8443'],
  ['https://hooks.example.org:0/', 'one of the ports 443, 8443'],
  ['https://hooks.example.org\\@10.0.0.1/', 'no blanks, backslashes'],
  [' https://hooks.example.org/', 'no blanks, backslashes'],
  ['https://hooks.exam\nple.org/', 'no blanks, backslashes'],
  ['https://hooks.exam\u200Bple.org/', 'no blanks, backslashes'],
  [`https://hooks.example.org/${'a'.repeat(2048)}`, '2048 characters'],
])('the URL %j is refused: %s', (text, expected) => {
  expect(messageOf(() => checkUrl(text, STRICT))).toContain(expected)
})

test('the refusal of a system port names every other port, if development allows them', () => {
  const message = messageOf(() => checkUrl('http://localhost:22/', DEVELOPMENT))
  expect(message).toContain('expected one of the ports 443, 8443, or one from 1024 on')
})

test.each([
  'https://hooks.example.org/hook?token=x',
  'https://hooks.example.org:443/',
  'https://hooks.example.org:8443/',
  'https://bücher.example/',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'https://[64:ff9b::8.8.8.8]/',
  'https://[::ffff:8.8.8.8]/',
])('the public URL %s is allowed', text => {
  expect(checkUrl(text, STRICT).protocol).toBe('https:')
})

test('a URL may be of this machine under the development switch, in plain text and at a port above 1023, and of nothing else private', () => {
  for (const text of [
    'http://127.0.0.1:3000/',
    'http://localhost:3000/x',
    'http://[::1]:3000/',
    'https://127.1:8443/',
  ]) {
    expect(checkUrl(text, DEVELOPMENT)).toBeInstanceOf(URL)
    expect(() => checkUrl(text, STRICT)).toThrow(RefusedAddressError)
  }
  for (const text of [
    'http://127.0.0.1:22/',
    'http://127.0.0.1/',
    'http://hooks.example.org:3000/',
    'http://8.8.8.8:3000/',
  ]) {
    expect(() => checkUrl(text, DEVELOPMENT)).toThrow(RefusedAddressError)
  }
  for (const host of ['10.0.0.1', '169.254.169.254', '0', '[fd00::1]', '192.168.0.1']) {
    expect(() => checkUrl(`https://${host}/`, DEVELOPMENT)).toThrow('not a public address')
  }
})

const octet = fc.integer({ min: 0, max: 255 })
const word = fc.integer({ min: 0, max: 0xffff }).map(value => value.toString(16))
const wordsOf = (count: number) => fc.array(word, { minLength: count, maxLength: count })

test('a private IPv4 address is not public inside any IPv6 address that carries it either', () => {
  const blocks = fc.oneof(
    fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
    fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
    fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
    fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
  )
  forAll(blocks, bytes => {
    const [a, b, c, d] = bytes
    const [high, low] = [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)]
    const [notHigh, notLow] = [(((a << 8) | b) ^ 0xffff).toString(16), (((c << 8) | d) ^ 0xffff).toString(16)]
    const forms = [
      bytes.join('.'),
      `::ffff:${high}:${low}`,
      `::ffff:${bytes.join('.')}`,
      `::${high}:${low}`,
      `64:ff9b::${high}:${low}`,
      `64:ff9b:1::${high}:${low}`,
      `2002:${high}:${low}::1`,
      `2001:0:808:808:0:0:${notHigh}:${notLow}`,
    ]
    for (const form of forms) expect([form, isPublicAddress(form)]).toEqual([form, false])
  })
})

test('an IPv6 address is public only inside 2000::/3', () => {
  forAll(wordsOf(8), words => {
    const first = Number.parseInt(words[0]!, 16)
    const isMapped = /^(0:){5}ffff$/.test(words.slice(0, 6).join(':'))
    const isNat64 = words.slice(0, 6).join(':') === '64:ff9b:0:0:0:0'
    fc.pre(!isMapped && !isNat64)
    if (first < 0x2000 || first > 0x3fff) expect(isPublicAddress(words.join(':'))).toBe(false)
  })
})

test.each(['1.1.1.1', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888'])(
  'the address %s is public',
  text => expect(isPublicAddress(text)).toBe(true),
)

test.each([
  '',
  'localhost',
  '1.1.1',
  '16843009',
  '0x01.1.1.1',
  '01.1.1.1',
  '1.1.1.1 ',
  '2606:4700::1%eth0',
  '[2606:4700::1]',
])('an address in no plain form, %j, is not taken for one', text => {
  expect(isPublicAddress(text)).toBe(false)
  expect(() => checkAddress(text, DEVELOPMENT)).toThrow(RefusedAddressError)
})

let listener: RawReceiver
beforeEach(async () => {
  listener = await startRawReceiver(socket => socket.end())
})

/** Answers of a resolver, one a call, the last one for ever; `asked` counts the calls. */
const resolverOf = (...answers: readonly (readonly string[])[]) => {
  let asked = 0
  const resolveHost: ResolveHost = async (): Promise<Resolution> => {
    asked++
    return answers[Math.min(asked, answers.length) - 1] ?? []
  }
  return { resolveHost, asked: () => asked }
}

const PUBLIC = resolverOf(['93.184.216.34'])

async function open(
  hostname: string,
  resolveHost: ResolveHost,
  more: Partial<ConnectOptions> & { readonly protocol?: string; readonly port?: string } = {},
): Promise<AttemptFailure | 'connected'> {
  const { protocol = 'https:', port = String(listener.port), ...options } = more
  const clock = { now: () => 0, startTimer: () => () => {} }
  const defaults = { rules: STRICT, resolveHost, ...clock, dial: connectTcp }
  try {
    const socket = await establish({ hostname, protocol, port }, { ...defaults, ...options })
    socket.destroy()
    return 'connected'
  } catch (error) {
    if (error instanceof AttemptError) return error.failure
    throw error
  }
}

test('a connection to a private host is not made, even if nobody checked the URL', async () => {
  const { resolveHost, asked } = resolverOf(['127.0.0.1'])
  for (const host of PRIVATE_HOSTS) {
    const { hostname } = new URL(`https://${host}/`)
    expect([host, await open(hostname, resolveHost)]).toEqual([host, 'address_refused'])
  }
  expect([asked(), listener.connections()]).toEqual([0, 0])
})

test('a connection to a name that resolves to a private address, alone or among public ones, is not made', async () => {
  for (const host of PRIVATE_HOSTS) {
    const address = new URL(`https://${host}/`).hostname.replace(/^\[|\]$/g, '')
    for (const answers of [[address], ['93.184.216.34', address], [address, '2606:4700::1111']])
      expect([answers, await open('hooks.example.org', resolverOf(answers).resolveHost)]).toEqual([
        answers,
        'address_refused',
      ])
  }
  expect(listener.connections()).toBe(0)
})

test('a connection asks the resolver once and goes to the address that was checked, and is checked again when it is made again', async () => {
  const { resolveHost, asked } = resolverOf(['127.0.0.1'], ['10.0.0.1'])
  const again = () => open('rebind.example.org', resolveHost, { rules: DEVELOPMENT })
  // The listener speaks no TLS: that it was reached is what is seen.
  const first = again()
  await expect.poll(listener.connections).toBe(1)
  await listener.close()
  expect([await first, asked()]).toEqual(['tls_failed', 1])
  expect(await again()).toBe('address_refused')
})

test('a connection that ends elsewhere than it was sent is given up before its first byte', async () => {
  let bytes = 0
  const inner = await startRawReceiver(() => {}, {
    onConnection: socket => socket.on('data', chunk => (bytes += chunk.length)),
  })
  const dial = () => connectTcp({ host: '127.0.0.1', port: inner.port })
  expect(await open('hooks.example.org', PUBLIC.resolveHost, { dial })).toBe('address_refused')
  await expect.poll(() => [inner.connections(), inner.open()]).toEqual([1, 0])
  expect(bytes).toBe(0)
})

test('a connection in plain text is made to this machine alone, and only under the development switch', async () => {
  const nobody = resolverOf([]).resolveHost
  const [plain, protocol] = [{ rules: DEVELOPMENT, protocol: 'http:' }, 'http:']
  expect(await open('127.0.0.1', nobody, plain)).toBe('connected')
  expect(await open('localhost', nobody, plain)).toBe('connected')
  expect(await open('127.0.0.1', nobody, { protocol })).toBe('address_refused')
  expect(await open('hooks.example.org', PUBLIC.resolveHost, plain)).toBe('address_refused')
})

test('a connection to an address without a port goes to port 443', async () => {
  const dial = (...asked: unknown[]): never => {
    throw new Error(JSON.stringify(asked))
  }
  const opening = open('hooks.example.org', PUBLIC.resolveHost, { dial, port: '' })
  await expect(opening).rejects.toThrow('"port":443,')
})
