import { readFile, stat } from 'node:fs/promises'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import { AbstractConnector, type RedisOptions } from 'ioredis'
import { ifThere } from '#storage/file-store.ts'

/** A process of another user has the port of our own Redis. */
export class ForeignPortError extends Error {
  constructor(port: number) {
    super(`a program of another user has port ${port}, on which our own Redis was: end that program`)
    this.name = 'ForeignPortError'
  }
}

/** A Redis that is busy accepts a connection late. */
const ACCEPT_MOST_MS = 1_500
const LOOK_MS = 10

/** The default of ioredis. */
const DISCONNECT_MS = 2_000

/**
 * The connector of ioredis for our own Redis. A connection is used only if a process of the owner of `folder` has
 * accepted it: another user's, which may have taken the port while our Redis was away, would get the password. What
 * the owner runs can read the password in the folder anyway.
 */
export const ownConnector = (folder: string) =>
  class OwnConnector extends AbstractConnector {
    readonly options: RedisOptions

    constructor(options: unknown) {
      const given = options as RedisOptions // ioredis gives its own
      super(given.disconnectTimeout ?? DISCONNECT_MS)
      this.options = given
    }

    /** Resolves with a socket that failed instead of rejecting: after a rejection ioredis would not try again. */
    async connect(): Promise<Socket> {
      this.connecting = true
      const { host = '127.0.0.1', port = 6379 } = this.options
      const socket = createConnection({ host, port })
      this.stream = socket
      try {
        await connected(socket)
        await assertOwnerAccepts(socket, folder)
        if (!this.connecting) socket.destroy() // disconnected meanwhile
      } catch (error) {
        this.firstError = error instanceof Error ? error : new Error(String(error))
        socket.destroy()
      }
      return socket
    }
  }

const connected = (socket: Socket): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.on('error', reject) // stays, because a socket without a listener ends the process
  })

async function assertOwnerAccepts(socket: Socket, folder: string): Promise<void> {
  const { uid } = await stat(folder)
  for (let waitedMs = 0; waitedMs < ACCEPT_MOST_MS; waitedMs += LOOK_MS) {
    const accepting = await acceptingUser(socket)
    if (accepting === uid) return
    if (accepting !== null) throw new ForeignPortError(socket.remotePort ?? 0)
    await after(LOOK_MS)
  }
  throw new Error(`our own Redis did not accept a connection within ${ACCEPT_MOST_MS} ms`)
}

/** The user whose process has accepted the other end of a connection on this machine, or null if none has yet. */
async function acceptingUser({ localPort, remotePort }: Socket): Promise<number | null> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map(name => ifThere(readFile(`/proc/net/${name}`, 'utf8'), '')),
  )
  for (const line of tables.join('').split('\n')) {
    const [, local = '', remote = '', , , , , uid, , inode] = line.trim().split(/\s+/)
    if (portOf(local) === remotePort && portOf(remote) === localPort && isHere(local) && inode !== '0')
      return Number(uid)
  }
  return null
}

/** `0100007F:1A0A` is 127.0.0.1, port 6666. */
const portOf = (end: string): number => Number.parseInt(end.slice(end.indexOf(':') + 1), 16)

/** 127.0.0.1, also as a mapped address of IPv6. */
const isHere = (end: string): boolean => /^(?:0{16}FFFF0000)?0100007F:/.test(end)
