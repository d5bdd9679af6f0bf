import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { EXAMPLE_SITE, type Site, writeNginx } from '#cli/services/edge/site.ts'
import { freePort } from '#cli/services/free-port.ts'
import { libraryPath, ROOT, unpacked } from './programs.ts'

// A server under load, alone on its core.

/** The core of every server that is measured; the client has the other one. */
const SERVER_CORE = '0'

export type PinnedServer = {
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** Cores of a server: one, so that both sides have as much, or all that the machine has. */
export type Cores = 'one' | 'all'

/** Starts a program that prints its address in a line that `ready` matches. Rejects if it ends before. */
export async function startPinned(
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
  ready: RegExp,
  cores: Cores = 'one',
): Promise<PinnedServer> {
  const command = cores === 'one' ? ['taskset', '-c', SERVER_CORE, program] : ['env', program]
  const child = spawn(command[0]!, [...command.slice(1), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', line => {
      const [, found] = ready.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    ended.then(() => reject(new Error(`${program} ended before it was ready`)))
  })
  return {
    url,
    pid: child.pid ?? 0, // taskset and env become the program: the process is the server's own
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

// The resources that a process has used, from /proc.

/** The kernel reports processor time in hundredths of a second. */
const TICK_SECONDS = 0.01

/** Seconds of processor time that all threads of a process, and its child processes that have ended, took so far. */
export async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before may hold anything
  const ticks = fields.slice(11, 15).map(Number) // user and system, then those of the children
  return ticks.reduce((sum, each) => sum + each, 0) * TICK_SECONDS
}

/** Most memory that a process has had so far, in MiB. */
export async function peakMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}

// The servers that benches compare.

/** The tier, on a store of the file system; without its access log, as its peers are. */
export const startTier = (storeUrl: string, cores: Cores = 'one'): Promise<PinnedServer> =>
  startPinned(
    [process.execPath, join(ROOT, 'cli/launcher.mjs'), 'serve', 'history'],
    { STORE_URL: storeUrl, PRIVATE_STORE_URL: `${storeUrl}.private`, HISTORY_PORT: '0', LOG_LEVEL: 'warn' },
    /^history service on (\S+)$/,
    cores,
  )

/** A script of the benches that serves and prints `ready URL`. */
export const startScript = (script: string, args: readonly string[]): Promise<PinnedServer> =>
  startPinned([process.execPath, script, ...args], {}, /^ready (\S+)$/)

/** nginx as fast as it can serve files: descriptors kept open, no log. Every file of `root` is JSON in this coding. */
export async function startBareNginx(folder: string, root: string, coding: string): Promise<PinnedServer> {
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  await mkdir(folder, { recursive: true })
  await writeFile(file, nginxConfiguration(folder, root, port, coding))
  return startNginx(folder, file, port)
}

/** nginx with the configuration of `deploy/nginx`, on a store in a folder. It has no tier, so only files are answered. */
export async function startConfiguredNginx(folder: string, store: string): Promise<PinnedServer> {
  const port = await freePort()
  const site: Site = {
    ...EXAMPLE_SITE,
    store,
    tier: { host: '127.0.0.1', port: await freePort() },
    nginx: { host: '127.0.0.1', port },
  }
  await writeNginx(ROOT, folder, site)
  return startNginx(folder, join(folder, 'nginx.conf'), port)
}

/** One process, whose processor time is that of the whole server. */
async function startNginx(folder: string, file: string, port: number): Promise<PinnedServer> {
  const packages = await unpacked(
    'cdn',
    'nginx',
    'libnginx-mod-http-brotli-static',
    'varnish',
    'varnish-modules',
  )
  const brotli = join(packages, 'usr/lib/nginx/modules/ngx_http_brotli_static_module.so')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const url = `http://127.0.0.1:${port}`
  const shell = `echo ready ${url}; exec "$0" -p "$1" -c "$2" -e "$1/error.log" -g "$3"`
  const program = join(packages, 'usr/sbin/nginx')
  const globals = `daemon off; master_process off; load_module ${brotli}; ${user}`
  const server = await startPinned(
    ['sh', '-c', shell, program, folder, file, globals],
    libraryPath(packages),
    /^ready (\S+)$/,
  )
  await untilItListens(url)
  return server
}

const nginxConfiguration = (folder: string, root: string, port: number, coding: string): string => `
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `  ${name}_temp_path ${folder}/${name};`).join('\n')}
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000000;
  open_file_cache max=1000 inactive=1h;
  open_file_cache_valid 1h;
  default_type "application/json; charset=utf-8";
  server {
    listen 127.0.0.1:${port};
    root ${root};
    add_header Content-Encoding ${coding};
    add_header Vary "Accept-Encoding, Origin";
    add_header Cache-Control "max-age=60, stale-while-revalidate=60, stale-if-error=86400";
  }
}
`

async function untilItListens(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await (await fetch(url)).arrayBuffer()
      return
    } catch (error) {
      if (tries === 100) throw error
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
}
