// Connections to subscribers: resolve, check every answer, connect to exactly those, and check the peer.
import { once } from 'node:events'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { buildConnector } from 'undici'
import { codeOf } from '#storage/error-code.ts'
import { type AddressRules, checkAddress, hostOf, isLocalhost, isLoopbackAddress } from './address-guard.ts'
import { AttemptError, type AttemptFailure } from './outcome.ts'
import { CONNECT_TIMEOUT_MS, MOST_HEADER_BYTES, UNPROVEN_FAULT_MS } from './policy.ts'
import type { ResolveHost } from './resolve-host.ts'

/** Starts a timer and returns a function that stops it. */
export type StartTimer = (ms: number, run: () => void) => () => void

export type ConnectOptions = {
  readonly rules: AddressRules
  readonly resolveHost: ResolveHost
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly startTimer: StartTimer
  /** Certificate authorities to trust instead of the system's, PEM. */
  readonly ca?: string
  /** Opens a TCP connection; tests replace it to end elsewhere, as in a network that rewrites. */
  readonly dial?: typeof connectTcp
}

export type Target = Pick<buildConnector.Options, 'hostname' | 'protocol' | 'port'>

/** undici's connector, guarded. Fails with AttemptError only. */
export function createGuardedConnect(options: ConnectOptions): buildConnector.connector {
  const begin = createFaultAttribution(options.now)
  return (target, callback) => {
    const attempt = begin(hostOf(target))
    establish(target, options).then(
      socket => {
        attempt.onConnected()
        callback(null, skipContinue(socket))
      },
      (error: Error) => callback(attempt.attributed(error), null),
    )
  }
}

/** What a failure is if the host is at fault, and what if we are. The first two are doubtful by themselves. */
const EITHER: {
  readonly [Failure in AttemptFailure]?: readonly [ofHost: AttemptFailure, ours: AttemptFailure]
} = {
  resolver_down: ['name_unanswered', 'resolver_down'],
  network_down: ['unreachable', 'network_down'],
  name_unknown: ['name_unknown', 'resolver_down'],
  connect_timeout: ['connect_timeout', 'network_down'],
  connect_failed: ['connect_failed', 'network_down'],
  tls_failed: ['tls_failed', 'network_down'],
}

/** Later ones replace the oldest, whose next failure is ours once more. */
const MOST_FAILING_HOSTS = 4_096

/** So many different hosts do not fail at one time for reasons of their own. */
const MANY_HOSTS = 3

/** Whether a name server is needed for a host. */
const isName = (host: string): boolean => isIP(host) === 0 && !isLocalhost(host)

/**
 * Decides whose fault it is that a host could not be connected to. It is the host's if an attempt that began after the
 * first of its failures has connected to another host by its name: name servers and network work then. An attempt that
 * began before may have been answered before the network was lost; an address or this machine proves nothing, because no
 * name server was needed, and perhaps no network. As long as none has, it is ours if many hosts fail, or if the failure
 * `isDoubtful`, as that of a name server is. A service with a single receiver never has such a proof: after
 * UNPROVEN_FAULT_MS a doubtful fault is the host's without one.
 */
function createFaultAttribution(now: () => number) {
  let begun = 0
  /** The last attempt that proves that name servers and network work. */
  let proof = 0
  /** By host, its first attempt that failed, and when it did. */
  const failing = new LRUCache<string, { attempt: number; atMs: number }>({ max: MOST_FAILING_HOSTS })
  const areMany = (): boolean => {
    const unproven = [...failing].filter(([host, { attempt }]) => attempt >= proof && isName(host))
    return unproven.length >= MANY_HOSTS
  }
  const isOfHost = (host: string, attempt: number, isDoubtful: boolean): boolean => {
    const first = failing.get(host) ?? { attempt, atMs: now() }
    failing.set(host, first)
    if (proof > first.attempt) return true
    return !areMany() && (!isDoubtful || now() - first.atMs >= UNPROVEN_FAULT_MS)
  }
  /** Call it when an attempt to connect to `host` begins, and one of these when it ends. */
  return (host: string) => {
    const attempt = ++begun
    return {
      onConnected(): void {
        if (isName(host)) proof = Math.max(proof, attempt)
        failing.delete(host)
      },
      /** The error as that of the host, or as ours. */
      attributed(error: Error): Error {
        const either = error instanceof AttemptError ? EITHER[error.failure] : undefined
        if (either === undefined) return error
        const [ofHost, ours] = either
        return new AttemptError(isOfHost(host, attempt, EITHER[ofHost] === undefined) ? ofHost : ours)
      },
    }
  }
}

/** A connection to `target` that is ready for HTTP. Throws AttemptError. */
export async function establish(target: Target, options: ConnectOptions): Promise<Socket> {
  const expiry = new AbortController()
  const stop = options.startTimer(CONNECT_TIMEOUT_MS, () => expiry.abort())
  const attempt = { ...options, ...target, host: hostOf(target), expired: expiry.signal }
  try {
    const addresses = await addressesOf(attempt)
    for (const address of addresses) assertAllowed(address, attempt) // one that is not allowed refuses the name
    const socket = await openTcp(attempt, addresses)
    assertEnd(socket, attempt)
    return target.protocol === 'https:' ? await openTls(attempt, socket) : socket
  } finally {
    stop()
  }
}

type Attempt = ConnectOptions & Target & { readonly host: string; readonly expired: AbortSignal }

async function addressesOf({ host, resolveHost, expired }: Attempt): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  if (isLocalhost(host)) return ['127.0.0.1', '::1']
  const silence = once(expired, 'abort').then(() => 'unanswered' as const)
  const found = await Promise.race([resolveHost(host), silence])
  if (found === 'unanswered') throw new AttemptError('resolver_down')
  if (found === 'unknown' || found.length === 0) throw new AttemptError('name_unknown')
  return found
}

/** Plain text stays on this machine, whatever the name resolves to. */
function assertAllowed(address: string, { protocol, rules }: Attempt): void {
  checkAddress(address, rules)
  if (protocol !== 'https:' && !isLoopbackAddress(address)) throw new AttemptError('address_refused')
}

/** The socket gets the checked addresses and resolves nothing again: a name cannot be rebound in between. */
function openTcp(
  { host, port, protocol, dial = connectTcp, expired }: Attempt,
  addresses: readonly string[],
) {
  const answers = addresses.map(address => ({ address, family: isIP(address) }))
  const socket = dial({
    host,
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    noDelay: true,
    autoSelectFamily: true,
    lookup: (_host, _options, answer) => answer(null, answers), // all of them: `autoSelectFamily` asks so
  })
  return ready(socket, 'connect', expired, tcpFailureOf)
}

function tcpFailureOf(error: unknown): AttemptFailure {
  const code = String(codeOf(error))
  if (HAS_NO_SOCKET.test(code)) return 'too_many_connections'
  return HAS_NO_ROUTE.test(code) ? 'network_down' : 'connect_failed'
}

/** This machine lacks sockets, memory or ports. */
const HAS_NO_SOCKET = /^E(?:MFILE|NFILE|NOBUFS|NOMEM|ADDRNOTAVAIL)$/

/** No route, or the firewall of this machine refuses: for this address, or for all. */
const HAS_NO_ROUTE = /^E(?:NETDOWN|NETUNREACH|HOSTUNREACH|ACCES|PERM)$/

/** Before the first byte is sent: check the peer that the kernel connected to. */
function assertEnd(socket: Socket, attempt: Attempt): void {
  try {
    if (socket.remoteAddress === undefined) throw new AttemptError('connect_failed')
    assertAllowed(socket.remoteAddress, attempt)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

function openTls({ host, ca, expired }: Attempt, socket: Socket) {
  const name = isIP(host) === 0 ? { servername: host } : {} // TLS server names cannot be addresses
  const trust = ca === undefined ? {} : { ca }
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable it.
  const rules = { rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] }
  const secure = connectTls({ socket, host, ...rules, ...name, ...trust }) // it destroys the socket with itself
  return ready(secure, 'secureConnect', expired, () => 'tls_failed')
}

async function ready(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  expired: AbortSignal,
  failureOf: (error: unknown) => AttemptFailure,
): Promise<Socket> {
  // The user of the socket adds a listener; until then an error must not end the process.
  socket.on('error', () => {})
  try {
    await once(socket, event, { signal: expired })
    return socket
  } catch (error) {
    socket.destroy()
    throw new AttemptError(expired.aborted ? 'connect_timeout' : failureOf(error))
  }
}

const START = 'HTTP/1.1 100 '

/** The reason may be missing, with the blank before it. */
const CONTINUE = /^HTTP\/1\.1 100[ \r]/

/**
 * Leaves `100 Continue` out of what a socket reads, and returns it. Some servers send it unasked before the answer; a
 * client must ignore it (RFC 9110, 15.2), but undici takes it for an error and ends the connection. An answer begins with
 * the first byte after a request, because requests are not pipelined.
 */
function skipContinue(socket: Socket): Socket {
  const read = socket.read.bind(socket)
  let held: Buffer = Buffer.alloc(0)
  /** How much was written when the answer that is being read began. */
  let begunAt = -1
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk: Buffer | null = read(size)
      if (chunk === null || socket.bytesWritten === begunAt) return chunk
      held = afterContinue(held.length === 0 ? chunk : Buffer.concat([held, chunk]))
      if (isUndecided(held)) continue
      begunAt = socket.bytesWritten
      const begin = held
      held = Buffer.alloc(0)
      return begin
    }
  }
  return socket
}

/** Heads of it that are complete, one after another. */
const CONTINUES = /^(?:HTTP\/1\.1 100(?=[ \r]).*?\r\n\r\n)+/s

const afterContinue = (bytes: Buffer): Buffer =>
  isContinue(bytes) ? bytes.subarray(CONTINUES.exec(bytes.toString('latin1'))?.[0].length ?? 0) : bytes

/** Whether more bytes are needed. A head that is too long is passed on, and refused as such. */
const isUndecided = (bytes: Buffer): boolean =>
  START.startsWith(startOf(bytes)) || (isContinue(bytes) && bytes.length < MOST_HEADER_BYTES)

const isContinue = (bytes: Buffer): boolean => CONTINUE.test(startOf(bytes))

const startOf = (bytes: Buffer): string => bytes.toString('latin1', 0, START.length)
