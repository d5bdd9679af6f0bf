// The servers that benches compare.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '#cli/free-port.ts'
import { libraryPath, ROOT, unpacked } from './packages.ts'
import { type Cores, type PinnedServer, startPinned } from './pinned-server.ts'

/** The tier, on a store of the file system; without its access log, as its peers are, where nothing else is said. */
export const startTier = (
  storeUrl: string,
  cores: Cores = 'one',
  log: 'info' | 'warn' = 'warn',
): Promise<PinnedServer> =>
  startPinned(
    [process.execPath, join(ROOT, 'cli/launcher.mjs'), 'serve', 'history'],
    { STORE_URL: storeUrl, PRIVATE_STORE_URL: `${storeUrl}.private`, HISTORY_PORT: '0', LOG_LEVEL: log },
    /^history service on (\S+)$/,
    cores,
  )

/** A script of the benches that serves and prints `ready URL`. */
export const startScript = (script: string, args: readonly string[]): Promise<PinnedServer> =>
  startPinned([process.execPath, script, ...args], {}, /^ready (\S+)$/)

/**
 * nginx with one worker, as quick as it can be made for files: descriptors kept open, no log. Every file of `root` is
 * served as JSON in the coding that is said.
 */
export async function startNginx(folder: string, root: string, coding: string): Promise<PinnedServer> {
  const packages = await unpacked(
    'cdn',
    'nginx',
    'libnginx-mod-http-brotli-static',
    'varnish',
    'varnish-modules',
  )
  const port = await freePort()
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'nginx.conf')
  await writeFile(file, nginxConfiguration(folder, root, port, coding))
  const url = `http://127.0.0.1:${port}`
  const shell = `echo ready ${url}; exec "$0" -p "$1" -c "$2" -e "$1/error.log"`
  const command = ['sh', '-c', shell, join(packages, 'usr/sbin/nginx'), folder, file] as const
  const server = await startPinned(command, libraryPath(packages), /^ready (\S+)$/)
  await untilItListens(url)
  return server
}

const nginxConfiguration = (folder: string, root: string, port: number, coding: string): string => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
master_process off;
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
