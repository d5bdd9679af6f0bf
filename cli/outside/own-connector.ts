import { once } from 'node:events'
import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import { AbstractConnector, type RedisOptions } from 'ioredis'
import { ifThere } from '#storage/error-code.ts'

/** Another program has the port of our own Redis. */
export class ForeignPortError extends Error {
  constructor(port: number) {
    super(`another program has port ${port}, on which our own Redis was: end that program`)
    this.name = 'ForeignPortError'
  }
}

/** A Redis that is busy accepts a connection late, and has its socket among its files a moment after that. */
const ACCEPT_MOST_MS = 1_500
const LOOK_MS = 10

/**
 * The connector of ioredis for our own Redis. A connection is used only if a process that works in `folder` has accepted
 * it, as our Redis does: any other, which may have taken the port while our Redis was away, would get the password and
 * the commands that wait for an answer. Only the owner of the folder and root can work there.
 */
export const ownConnector = (folder: string) =>
  class OwnConnector extends AbstractConnector {
    readonly options: RedisOptions

    constructor(options: unknown) {
      const given = options as RedisOptions // ioredis gives its own
      super(given.disconnectTimeout ?? 2_000) // the default of ioredis
      this.options = given
    }

    /** Resolves with a socket that failed instead of rejecting: after a rejection ioredis would not try again. */
    async connect(): Promise<Socket> {
      this.connecting = true
      const { host = '127.0.0.1', port = 6379 } = this.options
      const socket = createConnection({ host, port })
      this.stream = socket
      try {
        socket.on('error', () => {}) // stays, because a socket without a listener ends the process
        await once(socket, 'connect')
        await assertOwnAccepts(socket, folder)
        if (!this.connecting) socket.destroy() // disconnected meanwhile
      } catch (error) {
        this.firstError = error instanceof Error ? error : new Error(String(error))
        socket.destroy()
      }
      return socket
    }
  }

async function assertOwnAccepts(socket: Socket, folder: string): Promise<void> {
  for (let [waitedMs, looks] = [0, 0]; waitedMs < ACCEPT_MOST_MS; waitedMs += LOOK_MS) {
    const accepted = await acceptedEnd(socket)
    if (accepted !== null && (await isHeldFrom(folder, accepted))) return
    if (accepted !== null && ++looks > 1) throw new ForeignPortError(socket.remotePort ?? 0)
    await after(LOOK_MS)
  }
  throw new Error(`our own Redis did not accept a connection within ${ACCEPT_MOST_MS} ms`)
}

/** The inode of the other end of a connection on this machine, or null if no process has accepted it yet. */
async function acceptedEnd({ localPort, remotePort }: Socket): Promise<string | null> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map(name => ifThere(readFile(`/proc/net/${name}`, 'utf8'), '')),
  )
  for (const line of tables.join('').split('\n')) {
    const [, local = '', remote = '', , , , , , , inode = '0'] = line.trim().split(/\s+/)
    if (portOf(local) === remotePort && portOf(remote) === localPort && isHere(local) && inode !== '0')
      return inode
  }
  return null
}

/** Whether a process that works in `folder` has the socket. */
async function isHeldFrom(folder: string, inode: string): Promise<boolean> {
  const processes = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const { dev, ino } = await stat(folder)
  const sockets = processes.map(async pid => {
    try {
      const there = await stat(`/proc/${pid}/cwd`)
      if (there.dev !== dev || there.ino !== ino) return []
      const files = (await readdir(`/proc/${pid}/fd`)).map(file => `/proc/${pid}/fd/${file}`)
      return await Promise.all(files.map(file => readlink(file).catch(() => ''))) // closed meanwhile
    } catch {
      return [] // it has ended, or is another user's
    }
  })
  return (await Promise.all(sockets)).flat().includes(`socket:[${inode}]`)
}

/** `0100007F:1A0A` is 127.0.0.1, port 6666. */
const portOf = (end: string): number => Number.parseInt(end.slice(end.indexOf(':') + 1), 16)

/** 127.0.0.1, also as a mapped address of IPv6. */
const isHere = (end: string): boolean => /^(?:0{16}FFFF0000)?0100007F:/.test(end)
