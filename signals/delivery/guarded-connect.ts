// The one way to a subscriber: resolve, check every answer, connect to exactly those, and look where that ended.
import { once } from 'node:events'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { codeOf } from '#storage/error-code.ts'
import {
  type AddressRules,
  checkAddress,
  hostOf,
  isLocalhost,
  isLoopbackAddress,
  RefusedAddressError,
} from './address-guard.ts'
import type { ResolveHost } from './resolve-host.ts'

/** Starts a timer and gives a function that stops it. */
export type StartTimer = (ms: number, run: () => void) => () => void

export type ConnectOptions = {
  readonly rules: AddressRules
  readonly resolveHost: ResolveHost
  readonly startTimer: StartTimer
  /** For name, connection and TLS together. */
  readonly timeoutMs: number
  /** Authorities to trust in place of the machine's, PEM. */
  readonly ca?: string
  /** Opens a TCP connection; another one than Node's ends elsewhere, as in a network that rewrites. */
  readonly dial?: typeof connectTcp
}

/** Why there is no connection; the last two are our fault. */
export type ConnectFailure =
  | 'address_refused'
  | 'name_unknown'
  | 'connect_timeout'
  | 'connect_failed'
  | 'tls_failed'
  | 'resolver_down'
  | 'network_down'

/** No connection was made. Has no cause, because that would tell an address. */
export class ConnectError extends Error {
  readonly failure: ConnectFailure

  constructor(failure: ConnectFailure) {
    super(`no connection to the webhook: ${failure}`)
    this.name = 'ConnectError'
    this.failure = failure
  }
}

/** Where a connection is wanted: what undici asks for. */
export type Target = Pick<buildConnector.Options, 'hostname' | 'protocol' | 'port'>

/** As undici's own connector, guarded. Fails with ConnectError alone. */
export const createGuardedConnect =
  (options: ConnectOptions): buildConnector.connector =>
  (target, callback) => {
    establish(target, options).then(
      socket => callback(null, socket),
      (error: Error) => callback(error, null),
    )
  }

/** A connection to `target` that is ready for HTTP. Throws ConnectError. */
export async function establish(target: Target, options: ConnectOptions): Promise<Socket> {
  const expiry = new AbortController()
  const stop = options.startTimer(options.timeoutMs, () => expiry.abort())
  try {
    const host = hostOf(target)
    const addresses = await addressesOf(host, options.resolveHost, expiry.signal)
    // One answer that is not allowed spoils the name.
    for (const address of addresses) assertAllowed(address, target, options.rules)
    const socket = await openTcp(host, target, addresses, options.dial ?? connectTcp, expiry.signal)
    assertEnd(socket, target, options.rules)
    return target.protocol === 'https:' ? await openTls(host, socket, options.ca, expiry.signal) : socket
  } finally {
    stop()
  }
}

async function addressesOf(
  host: string,
  resolveHost: ResolveHost,
  expired: AbortSignal,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  if (isLocalhost(host)) return ['127.0.0.1', '::1']
  const silence = once(expired, 'abort').then(() => ({ kind: 'unanswered' as const }))
  const resolution = await Promise.race([resolveHost(host), silence])
  switch (resolution.kind) {
    case 'found':
      if (resolution.addresses.length === 0) throw new ConnectError('name_unknown')
      return resolution.addresses
    case 'unknown':
      throw new ConnectError('name_unknown')
    case 'unanswered':
      throw new ConnectError('resolver_down')
  }
}

function assertAllowed(address: string, { protocol }: Target, rules: AddressRules): void {
  try {
    checkAddress(address, rules)
  } catch (error) {
    if (error instanceof RefusedAddressError) throw new ConnectError('address_refused')
    throw error
  }
  // Plain text does not leave the machine, whatever the name resolves to.
  if (protocol !== 'https:' && !isLoopbackAddress(address)) throw new ConnectError('address_refused')
}

/** The socket is given the checked addresses and nobody is asked a second time: a name cannot be rebound in between. */
function openTcp(
  host: string,
  { port, protocol }: Target,
  addresses: readonly string[],
  dial: typeof connectTcp,
  expired: AbortSignal,
): Promise<Socket> {
  const answers = addresses.map(address => ({ address, family: isIP(address) }))
  const socket = dial({
    host,
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    noDelay: true,
    autoSelectFamily: true,
    lookup: (_host, { all }, answer) =>
      all === true ? answer(null, answers) : answer(null, answers[0]!.address, answers[0]!.family),
  })
  return ready(socket, 'connect', expired, error =>
    OUR_FAULTS.has(String(codeOf(error))) ? 'network_down' : 'connect_failed',
  )
}

/** Sockets, ports, memory or routes that this machine lacks, or its own firewall. */
const OUR_FAULTS: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'ENETDOWN',
  'ENETUNREACH',
  'EACCES',
  'EPERM',
])

/** Before the first byte is sent: the kernel may only have connected to what is allowed. */
function assertEnd(socket: Socket, target: Target, rules: AddressRules): void {
  try {
    if (socket.remoteAddress === undefined) throw new ConnectError('connect_failed')
    assertAllowed(socket.remoteAddress, target, rules)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function openTls(
  host: string,
  socket: Socket,
  ca: string | undefined,
  expired: AbortSignal,
): Promise<Socket> {
  const name = isIP(host) === 0 ? { servername: host } : {} // TLS has no names that are addresses
  const trust = ca === undefined ? {} : { ca }
  // Said here, so that no NODE_TLS_REJECT_UNAUTHORIZED of the environment can unsay it.
  const rules = { rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] }
  const secure = connectTls({ socket, host, ...rules, ...name, ...trust })
  try {
    return await ready(secure, 'secureConnect', expired, () => 'tls_failed')
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function ready(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  expired: AbortSignal,
  failureOf: (error: unknown) => ConnectFailure,
): Promise<Socket> {
  // Whoever uses the socket listens too; between the two an error must not end the process.
  socket.on('error', () => {})
  try {
    await once(socket, event, { signal: expired })
    return socket
  } catch (error) {
    socket.destroy()
    throw new ConnectError(expired.aborted ? 'connect_timeout' : failureOf(error))
  }
}
